import { execFile, spawnSync } from 'node:child_process'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FetchingJSONSchemaStore, InputData, JSONSchemaInput, quicktype } from 'quicktype-core'
import { raw, startServer } from '../../src/testing/index.ts'
import type { TestServer } from '../../src/testing/index.ts'

/* Clients that three generators make of the document that the server serves, each used against that server. */

const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url))
const consumers = fileURLToPath(new URL('./consumers', import.meta.url))
const run = promisify(execFile)

let server: TestServer
let folder: string
/** Runs a program in the folder; its standard output. */
const inFolder = async (program: string, ...given: string[]): Promise<string> => {
  const env = { ...process.env, STOCKADE_URL: server.url, STOCKADE_SETUP_CODE: server.setupCode ?? '' }
  return (await run(program, given, { cwd: folder, env })).stdout
}
const node = (tool: string, ...given: string[]) => inFolder(process.execPath, join(modules, tool), ...given)

beforeEach(async () => {
  server = await startServer()
  folder = await mkdtemp(join(tmpdir(), 'stockade-clients-'))
  await cp(consumers, folder, { recursive: true })
  await symlink(modules, join(folder, 'node_modules'))
  await writeFile(join(folder, 'openapi.json'), (await raw(server, 'GET', '/api/openapi.json')).text)
})
afterEach(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

/** What each client has to report: it sets up, adds and lists a server, lists bans, bans, reads the command, and is refused. */
const expected = {
  hostnames: ['web-01.example'],
  bans: 0,
  command: { type: 'ban-ip', status: 'pending', server: 'web-01.example' },
  refused: ['ip'],
}

/** Checks the types of a consumer as strictly as our own, bundles it and runs it. */
const runTypeScript = async (consumer: string): Promise<unknown> => {
  const compilerOptions = {
    noEmit: true,
    strict: true,
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    types: ['node'],
    skipLibCheck: true,
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [consumer] }))
  await node('@typescript/native/bin/tsc', '-p', '.')
  await inFolder(
    join(modules, '.bin/esbuild'),
    consumer,
    '--bundle',
    '--platform=node',
    '--format=esm',
    '--outfile=consumer.mjs',
  )
  return JSON.parse(await inFolder(process.execPath, 'consumer.mjs'))
}

test('openapi-typescript and openapi-fetch', async () => {
  await node('openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'generated.d.ts')
  expect(await runTypeScript('openapi-fetch.ts')).toEqual(expected)
})

test('Hey API', async () => {
  const plugins = ['-p', '@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk']
  await node('@hey-api/openapi-ts/bin/run.js', '-i', 'openapi.json', '-o', 'generated', ...plugins)
  expect(await runTypeScript('hey-api.ts')).toEqual(expected)
})

const isPython = spawnSync('python3', ['--version']).status === 0
test.skipIf(!isPython)('Python classes by quicktype', async () => {
  const { components } = (await raw(server, 'GET', '/api/openapi.json')).json as { components: object }
  // Without formats, times and ids stay strings, so that Python needs no library for them.
  const plain = JSON.parse(JSON.stringify({ components }), (key, value: unknown) =>
    key === 'format' && typeof value === 'string' ? undefined : value,
  ) as object
  const schema = new JSONSchemaInput(new FetchingJSONSchemaStore())
  for (const name of [
    'SetUpRequest',
    'SignedIn',
    'RegisteredServer',
    'ListServersResponse',
    'ListBansResponse',
    'CreateBanRequest',
    'CreateBanResponse',
    'Command',
    'Problem',
  ])
    await schema.addSource({ name, schema: JSON.stringify({ ...plain, $ref: `#/components/schemas/${name}` }) })
  const inputData = new InputData()
  inputData.addInput(schema)
  const { lines } = await quicktype({ inputData, lang: 'python', rendererOptions: { 'python-version': '3.7' } })
  await writeFile(join(folder, 'generated.py'), lines.join('\n'))
  expect(JSON.parse(await inFolder('python3', 'quicktype.py'))).toEqual(expected)
})
