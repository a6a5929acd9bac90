import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { places, releasedNode } from '../../core/places.ts'

export const runtimeNames = ['node-linux-x64.gz', 'node-linux-arm64.gz'] as const
export type RuntimeName = (typeof runtimeNames)[number]

/** A gzipped Node for hosts without one, and its checksum in hex. */
export interface Runtime {
  readonly file: string
  readonly sha256: string
}
export interface Runtimes {
  /** Resolves to null where this server has none for that architecture. */
  find(name: RuntimeName): Promise<Runtime | null>
}

const ownName = `node-linux-${process.arch}.gz`
const hashOf = async (file: string): Promise<string> => {
  const hash = createHash('sha256')
  for await (const part of createReadStream(file)) hash.update(part)
  return hash.digest('hex')
}
const withSum = async (file: string): Promise<Runtime> => {
  const written = existsSync(`${file}.sha256`) ? await readFile(`${file}.sha256`, 'utf8') : ''
  return { file, sha256: /^[0-9a-f]{64}(?=\s|$)/.exec(written)?.[0] ?? (await hashOf(file)) }
}

/**
 * Offers what the build packed, then what the operator put into `runtime/` of the data folder. A release has its own Node only
 * once, 126 MB: it is packed for hosts of the same architecture when the first one asks, and kept until the version changes.
 */
export const createRuntimes = (
  dataDir: string,
  { packed, node }: { packed: string; node: string | null } = { packed: places.runtimes, node: releasedNode() },
): Runtimes => {
  const folder = join(dataDir, 'runtime')
  let packing: Promise<Runtime> | null = null
  const pack = async (program: string): Promise<Runtime> => {
    const file = join(folder, `own-${process.version}-${ownName}`)
    if (existsSync(file)) return withSum(file)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // Those of earlier versions, and what a stopped process left.
    for (const name of await readdir(folder)) if (name.startsWith('own-')) await rm(join(folder, name))
    const part = `${file}.part`
    await pipeline(createReadStream(program), createGzip({ level: 6 }), createWriteStream(part, { mode: 0o600 }))
    await writeFile(`${file}.sha256`, `${await hashOf(part)}  ${ownName}\n`)
    await rename(part, file)
    return withSum(file)
  }
  return {
    async find(name) {
      for (const file of [join(packed, name), join(folder, name)]) if (existsSync(file)) return withSum(file)
      if (name !== ownName || node === null) return null
      packing ??= pack(node).finally(() => (packing = null))
      return packing
    },
  }
}
