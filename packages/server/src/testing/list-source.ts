import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Answer = (request: IncomingMessage, reply: ServerResponse) => void

/** Somebody who publishes lists, on a loopback address. */
export const startListSource = async () => {
  const answers = new Map<string, Answer>()
  const asked: string[] = []
  const source = createServer((request, reply) => {
    const path = request.url ?? ''
    asked.push(path)
    const answer = answers.get(path)
    if (answer) answer(request, reply)
    else reply.writeHead(404).end()
  })
  await new Promise<void>(resolve => source.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(source.address() as AddressInfo).port}`,
    /** What it answers, by path; 404 to all else. */
    answers,
    /** The paths that it was asked for. */
    asked,
    text(path: string, body: string | Buffer, headers: Record<string, string> = {}) {
      answers.set(path, (_, reply) => reply.writeHead(200, { 'content-type': 'text/plain', ...headers }).end(body))
    },
    close() {
      source.closeAllConnections()
      source.close()
    },
  }
}
