import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRuntimes } from './runtimes.ts'
import type { RuntimeName } from './runtimes.ts'

const own = `node-linux-${process.arch}.gz` as RuntimeName
const other: RuntimeName = own === 'node-linux-x64.gz' ? 'node-linux-arm64.gz' : 'node-linux-x64.gz'
const sumOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')

describe('the Node for hosts without one', () => {
  let folder: string
  let packed: string
  let node: string
  let dataDir: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'runtimes-'))
    packed = join(folder, 'packed')
    node = join(folder, 'node')
    dataDir = join(folder, 'data')
    mkdirSync(packed)
    writeFileSync(node, 'a program')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('is what the build packed, with its checksum', async () => {
    writeFileSync(join(packed, own), 'packed')
    writeFileSync(join(packed, `${own}.sha256`), `${sumOf('packed')}  ${own}\n`)
    expect(await createRuntimes(dataDir, { packed, node }).find(own)).toEqual({
      file: join(packed, own),
      sha256: sumOf('packed'),
    })
  })
  it('is made once of the Node of a release, for its own architecture only', async () => {
    const runtimes = createRuntimes(dataDir, { packed, node })
    const [first, second] = await Promise.all([runtimes.find(own), runtimes.find(own)])
    expect(first).toEqual(second)
    const made = readFileSync(first?.file ?? '')
    expect(gunzipSync(made).toString()).toBe('a program')
    expect(first?.sha256).toBe(sumOf(made))
    expect(await runtimes.find(other)).toBeNull()
    expect(await createRuntimes(dataDir, { packed, node: null }).find(own)).toBeNull()
  })
  it('replaces that of an earlier version, and what a stopped process left', async () => {
    const kept = join(dataDir, 'runtime')
    mkdirSync(kept, { recursive: true })
    writeFileSync(join(kept, `own-v20.0.0-${own}`), 'old')
    writeFileSync(join(kept, `own-${process.version}-${own}.part`), 'half')
    await createRuntimes(dataDir, { packed, node }).find(own)
    const name = `own-${process.version}-${own}`
    expect(readdirSync(kept).sort()).toEqual([name, `${name}.sha256`])
  })
  it('is what the operator put into the data folder, also without a checksum beside it', async () => {
    mkdirSync(join(dataDir, 'runtime'), { recursive: true })
    writeFileSync(join(dataDir, 'runtime', other), 'given')
    expect(await createRuntimes(dataDir, { packed, node }).find(other)).toEqual({
      file: join(dataDir, 'runtime', other),
      sha256: sumOf('given'),
    })
  })
})
