import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** An address, for hosts, that leads where the test says, or nowhere. */
export const aDoor = async (leadsTo: number) => {
  const parts: Buffer[] = []
  const open = new Set<Socket>()
  let target: number | null = leadsTo
  let shutsAt: string | null = null
  const shut = () => {
    target = null
    for (const socket of open) socket.destroy()
  }
  const listener = createServer(from => {
    if (target === null) return from.destroy()
    const to = connect(target, '127.0.0.1')
    for (const socket of [from, to]) {
      open.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        open.delete(socket)
        from.destroy()
        to.destroy()
      })
    }
    from.on('data', (part: Buffer) => {
      parts.push(part)
      if (shutsAt !== null && part.includes(shutsAt)) shut()
    })
    from.pipe(to)
    to.pipe(from)
  })
  await new Promise<void>(resolve => listener.listen(0, '0.0.0.0', resolve))
  return {
    port: (listener.address() as AddressInfo).port,
    heard: () => Buffer.concat(parts).toString('latin1'),
    /** Breaks every connection, and each new one. */
    shut,
    close() {
      shut()
      listener.close()
    },
    /** Does so when a host says this. */
    shutAt: (text: string) => void (shutsAt = text),
    leadTo(port: number) {
      target = port
      shutsAt = null
    },
  }
}
