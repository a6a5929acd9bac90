import { createServer, request as ask } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** An HTTP proxy as companies run them: CONNECT for https, whole URLs for plain http, and a password where it wants one. */
export const aProxy = async (
  settings: { host?: string; authorization?: string; tunnelsTo?: (target: string) => boolean } = {},
) => {
  const { host = '127.0.0.1', authorization, tunnelsTo = () => true } = settings
  /** What was asked of it, as `CONNECT host:port` or `GET http://...`. */
  const asked: string[] = []
  const sockets = new Set<Socket>()
  const isWelcome = (request: IncomingMessage): boolean =>
    authorization === undefined || request.headers['proxy-authorization'] === authorization

  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    asked.push(`${request.method} ${request.url}`)
    if (!isWelcome(request)) return void response.writeHead(407).end()
    const headers = { ...request.headers }
    delete headers['proxy-authorization']
    const onward = ask(request.url ?? '', { method: request.method, headers }, answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  }
  const server = createServer(pass)
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('connect', (request, client: Socket) => {
    const target = request.url ?? ''
    asked.push(`CONNECT ${target}`)
    if (!isWelcome(request) || !tunnelsTo(target))
      return void client.end(`HTTP/1.1 ${isWelcome(request) ? 403 : 407} No\r\n\r\n`)
    const [, name = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(target) ?? []
    const upstream = connect(Number(port), name, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(client)
      client.pipe(upstream)
    })
    const end = (): void => {
      upstream.destroy()
      client.destroy()
    }
    for (const socket of [upstream, client]) socket.on('error', end).on('close', end)
  })
  await new Promise<void>(resolve => server.listen(0, host, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    close(): void {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
