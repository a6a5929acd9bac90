import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The agent that this server offers to hosts. */
export interface OfferedRelease {
  readonly version: string
  /** `<version>-<8 hex of its SHA-256>`, as hosts name an installed release. */
  readonly name: string
  /** SHA-256 of the signed manifest, in hex; null where nothing is signed. */
  readonly manifest: string | null
  /** SHA-256 of the program, in hex. */
  readonly program: string
}

const digest = (content: Buffer): string => createHash('sha256').update(content).digest('hex')
const readOrNull = (file: string): Promise<Buffer | null> =>
  readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })

/**
 * Reads the release in a folder; null where no agent lies there. A manifest names its version; without one the agent has the version
 * of this server.
 */
export const createOffer = (folder: string, ownVersion: string): (() => Promise<OfferedRelease | null>) => {
  let lastOffer: { readonly mark: string; readonly offer: OfferedRelease | null } | null = null
  const markOf = async (): Promise<string> => {
    const marks = ['stockade-agent.mjs', 'MANIFEST', 'MANIFEST.sig'].map(async name => {
      const fileState = await stat(join(folder, name)).catch(() => null)
      return fileState ? `${fileState.ino} ${fileState.size} ${fileState.mtimeMs}` : ''
    })
    return (await Promise.all(marks)).join('\n')
  }
  const read = async (): Promise<OfferedRelease | null> => {
    const program = await readOrNull(join(folder, 'stockade-agent.mjs'))
    if (program === null) return null
    const manifest = await readOrNull(join(folder, 'MANIFEST'))
    const signature = await readOrNull(join(folder, 'MANIFEST.sig'))
    const isSigned = manifest !== null && signature !== null
    const manifestVersion = isSigned
      ? /^version ([0-9][0-9A-Za-z.+-]{0,60})$/m.exec(manifest.toString('utf8'))?.[1]
      : undefined
    const version = manifestVersion ?? ownVersion
    const sum = digest(program)
    return {
      version,
      name: `${version}-${sum.slice(0, 8)}`,
      manifest: isSigned ? digest(manifest) : null,
      program: sum,
    }
  }
  return async () => {
    const mark = await markOf()
    if (lastOffer?.mark !== mark) lastOffer = { mark, offer: await read() }
    return lastOffer.offer
  }
}
