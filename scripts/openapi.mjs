import { writeFileSync } from 'node:fs'
import { startServer } from '../packages/server/src/testing/index.ts'

/* Writes the OpenAPI document of what is mounted to packages/server/openapi.json; a test compares it. */
const server = await startServer()
const document = await (await fetch(`${server.url}/api/openapi.json`)).json()
writeFileSync(new URL('../packages/server/openapi.json', import.meta.url), `${JSON.stringify(document, null, 2)}\n`)
await server.close()
