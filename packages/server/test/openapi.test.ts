import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { raw, startServer } from '../src/testing/index.ts'

test('the document that is committed is the one that is served', async () => {
  const server = await startServer()
  const served = (await raw(server, 'GET', '/api/openapi.json')).json
  await server.close()
  const committed: unknown = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'))
  // After a change: npm run openapi
  expect(served).toEqual(committed)
})
