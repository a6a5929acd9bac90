import { createServer } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiError, createClient } from './index.ts'

/* What stands between a client and the server may answer with pages of its own. */

let page: { status: number; body: string }
const proxy = createServer((_, reply) =>
  reply.writeHead(page.status, { 'content-type': 'text/html; charset=utf-8' }).end(page.body),
)
beforeAll(() => new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise(resolve => proxy.close(resolve)))

test.each([
  [200, 502, /^A web page came in place of the answer/],
  [503, 503, /^The server answered 503 without an explanation\.$/],
])('a page with status %i is a refusal', async (status, said, message) => {
  page = { status, body: '<html>Sign in to the network</html>' }
  const address = proxy.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const refused = await createClient({ baseUrl: `http://127.0.0.1:${port}` })
    .call('GET /auth/me')
    .catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(ApiError)
  expect(refused).toMatchObject({ status: said, message: expect.stringMatching(message) })
})
