import { expect, test } from 'vitest'
import { endpoints } from '@stockade/contract'
import { openApiOf } from '../src/http/openapi/document.ts'
import { raw, startServer } from '../src/testing/index.ts'

interface Document {
  readonly info: { readonly version: string }
  readonly servers: readonly [{ readonly url: string }]
}

test('the server serves the document of the whole contract, with its own address', async () => {
  const server = await startServer()
  try {
    const served = (await raw(server, 'GET', '/api/openapi.json')).json as Document
    expect(URL.canParse(served.servers[0].url)).toBe(true)
    expect(served).toEqual(openApiOf(endpoints, served.info.version, served.servers[0].url))
  } finally {
    await server.close()
  }
})
