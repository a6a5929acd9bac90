import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '@stockade/contract/error-code.ts'
import { Failure } from './failure.ts'

export type Protocol = 'tcp' | 'udp'
export interface Target {
  readonly address: string
  readonly family: 4 | 6
}

const lookups: Readonly<Record<string, string>> = {
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name can not be looked up now',
  EAI_FAIL: 'the name can not be looked up',
}
/** The first address that the system would take, of that family where one is asked for. */
export const targetOf = async (host: string, family: 4 | 6 | null): Promise<Target> => {
  const addresses = await lookup(host, { family: family ?? 0, order: 'verbatim' }).catch((error: unknown) => {
    const code = codeOf(error) ?? ''
    throw new Failure(
      `Can't find ${host}${family === null ? '' : ` by IPv${family}`}: ${lookups[code] ?? (code || String(error))}.`,
    )
  })
  // An address needs no resolution.
  if (family !== null && addresses.family !== family) throw new Failure(`${host} is no IPv${family} address.`)
  return { address: addresses.address, family: addresses.family === 6 ? 6 : 4 }
}

const unsendable: Readonly<Record<string, string>> = {
  ENETUNREACH: 'there is no route to it',
  EHOSTUNREACH: 'there is no route to it',
  EADDRNOTAVAIL: 'this machine has no address to send from',
  EACCES: 'this machine does not let it out',
  EPERM: 'this machine does not let it out',
  EINVAL: 'the address can not be sent to',
}
const refuse = (target: Target, port: number, error: NodeJS.ErrnoException): Failure =>
  new Failure(
    `Can't knock at port ${port} of ${target.address}: ${unsendable[error.code ?? ''] ?? error.code ?? error.message}.`,
  )

/**
 * One SYN, whatever becomes of it: a firewall that knows the knock drops it, so no answer is the usual answer. Gives up
 * before the system would send it again.
 */
const knockByTcp = (target: Target, port: number, milliseconds: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: target.address, family: target.family, port })
    const done = (failure?: Failure) => {
      clearTimeout(timer)
      socket.destroy()
      if (failure) reject(failure)
      else resolve()
    }
    const timer = setTimeout(done, milliseconds)
    socket.once('connect', () => done())
    socket.once('error', (error: NodeJS.ErrnoException) =>
      done(error.code !== undefined && error.code in unsendable ? refuse(target, port, error) : undefined),
    )
  })
const knockByUdp = async (target: Target, ports: readonly number[], milliseconds: number): Promise<void> => {
  const socket = createSocket(target.family === 6 ? 'udp6' : 'udp4')
  // Where nothing listens the host may say so; that is no error here.
  socket.on('error', () => {})
  try {
    for (const [index, port] of ports.entries()) {
      // Packets that leave together may arrive in another order.
      if (index > 0) await sleep(milliseconds)
      await new Promise<void>((resolve, reject) =>
        socket.send(Buffer.alloc(1), port, target.address, error =>
          error ? reject(refuse(target, port, error)) : resolve(),
        ),
      )
    }
  } finally {
    socket.close()
  }
}

/**
 * Knocks at the ports one after the other.
 * @param milliseconds between two UDP packets, and how long a TCP knock waits for an answer at most.
 * @throws Failure where a packet can't even leave.
 */
export const knockAt = async (
  target: Target,
  ports: readonly number[],
  protocol: Protocol,
  milliseconds: number,
): Promise<void> => {
  if (protocol === 'udp') return knockByUdp(target, ports, milliseconds)
  for (const port of ports) await knockByTcp(target, port, milliseconds)
}
