import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface WebhookReceiver<Post> {
  readonly url: string
  /** What arrived, each body as JSON. */
  readonly posts: Post[]
  /** While it is not empty, messages are refused with these words and not kept. */
  refusal: string
  close(): Promise<void>
}

/** Receives what is sent to a webhook. */
export const webhookReceiver = async <Post>(): Promise<WebhookReceiver<Post>> => {
  const http = createServer((request, reply) => {
    let sent = ''
    request.on('data', (piece: Buffer) => (sent += piece.toString()))
    request.on('end', () => {
      if (receiver.refusal !== '') return reply.writeHead(403).end(receiver.refusal)
      receiver.posts.push(JSON.parse(sent) as Post)
      return reply.writeHead(204).end()
    })
  })
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve))
  const receiver: WebhookReceiver<Post> = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/in/hush`,
    posts: [],
    refusal: '',
    close: () =>
      new Promise(resolve => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
  return receiver
}
