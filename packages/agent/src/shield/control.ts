import * as fs from 'node:fs'
import * as net from 'node:net'
import { join } from 'node:path'
import { asFields, asInteger, asList, asText } from '../json.ts'
import { canonicalIp } from '../ip.ts'
import { errorText } from '../text.ts'
import type { FleetBans } from './fleet-bans.ts'
import type { Shield } from './shield.ts'

/* `stockade-agent shield` on the host, which needs no server. A running agent owns the table, so it does the work. */

export interface ShieldRequest {
  readonly verb: 'status' | 'off' | 'on' | 'release'
  /** For `off`: seconds until the shield is on again; null: until `on`. */
  readonly seconds: number | null
  /** For `release`. */
  readonly ip: string | null
}

export interface ShieldAnswer {
  readonly isDone: boolean
  readonly lines: readonly string[]
}

const maxRequestBytes = 4096
const answerTimeout = 30_000

const controlSocket = (runDirectory: string): string => join(runDirectory, 'shield.sock')

/** Carries out a request. Never throws. */
export const answerRequest = async (
  shield: Shield,
  request: ShieldRequest,
  now: () => number,
  fleet: Pick<FleetBans, 'release'> | null = null,
): Promise<ShieldAnswer> => {
  try {
    switch (request.verb) {
      case 'off':
        await shield.turnOff(request.seconds === null ? null : now() + request.seconds * 1000)
        break
      case 'on':
        await shield.turnOn()
        break
      case 'release':
        return await release(shield, fleet, request.ip ?? '')
      case 'status':
    }
    return { isDone: true, lines: statusLines(shield) }
  } catch (error) {
    return { isDone: false, lines: [errorText(error)] }
  }
}

const release = async (
  shield: Shield,
  fleet: Pick<FleetBans, 'release'> | null,
  text: string,
): Promise<ShieldAnswer> => {
  const ip = canonicalIp(text)
  if (ip === null) return { isDone: false, lines: ['shield release needs an address or a range'] }
  const lifted = [...new Set([...(await shield.release(ip)), ...((await fleet?.release(ip)) ?? [])])]
  const line = lifted.length === 0 ? `the shield has no ban of ${ip}` : `no longer banned: ${lifted.join(', ')}`
  return { isDone: lifted.length > 0, lines: [line] }
}

const statusLines = (shield: Shield): string[] => {
  const { supported, mode, owned, driver, reason } = shield.report()
  if (!supported) return [`the shield is not supported on this host: ${reason ?? ''}`]
  const { detail, repairs } = shield.health()
  const until = shield.offUntil()
  const state =
    until === undefined ? (detail ?? 'in force') : until === null ? 'off' : `off until ${new Date(until).toISOString()}`
  return [
    `shield: ${state}`,
    `bans: ${shield.bans().length}`,
    `form: ${mode ?? ''}, through ${driver ?? ''}${owned ? ', table owned by the agent' : ''}`,
    `repairs since the start: ${repairs}`,
  ]
}

const readRequest = (text: string): ShieldRequest => {
  const fields = asFields(JSON.parse(text))
  const verb = asText(fields['verb'])
  if (verb !== 'status' && verb !== 'off' && verb !== 'on' && verb !== 'release') throw new Error('unknown request')
  const seconds = asInteger(fields['seconds'], 0)
  return { verb, seconds: seconds > 0 ? seconds : null, ip: asText(fields['ip']) || null }
}

/** Listens in the run directory, which only root can enter. Answers the function that ends it. */
export const serveControl = (
  runDirectory: string,
  answer: (request: ShieldRequest) => Promise<ShieldAnswer>,
  warn: (text: string) => void,
): (() => void) => {
  const path = controlSocket(runDirectory)
  fs.rmSync(path, { force: true })
  const server = net.createServer({ allowHalfOpen: true }, socket => {
    let text = ''
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8')
      if (text.length > maxRequestBytes) socket.destroy()
    })
    socket.on('end', () => {
      void (async () => answer(readRequest(text)))()
        .catch((error: unknown): ShieldAnswer => ({ isDone: false, lines: [errorText(error)] }))
        .then(reply => socket.end(JSON.stringify(reply)))
    })
  })
  server.on('error', error => warn(`shield: the socket for commands on the host does not work: ${errorText(error)}`))
  server.listen(path)
  server.unref()
  return () => {
    server.close()
    fs.rmSync(path, { force: true })
  }
}

/** The answer of the running agent; null if none runs. */
export const askAgent = (runDirectory: string, request: ShieldRequest): Promise<ShieldAnswer | null> =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = net.connect(controlSocket(runDirectory))
    socket.setTimeout(answerTimeout, () => socket.destroy(new Error('the agent does not answer')))
    socket.on('connect', () => socket.end(JSON.stringify(request)))
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
    socket.on('end', () => {
      const fields = asFields(JSON.parse(text || '{}'))
      resolve({ isDone: fields['isDone'] === true, lines: asList(fields['lines']).map(line => asText(line)) })
    })
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' || error.code === 'ECONNREFUSED' ? resolve(null) : reject(error),
    )
  })
