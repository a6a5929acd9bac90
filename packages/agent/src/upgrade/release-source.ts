import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Identity } from '../config.ts'
import { readText } from '../files.ts'
import { checkFile, refuseDowngrade, releaseKeys, verifyRelease } from '../release.ts'
import type { Transport } from '../transport.ts'

const maxProgramBytes = 16 * 1024 * 1024
const maxManifestBytes = 64 * 1024
const maxSignatureBytes = 1024

/** What is wanted of the server's release; null: whatever the server has. */
export interface WantedRelease {
  readonly version: string | null
  /** SHA-256 of the manifest, in hex. */
  readonly manifest: string | null
  /** SHA-256 of the program, in hex. */
  readonly program: string | null
  readonly allowDowngrade: boolean
}

export const releaseKeysFile = (configDirectory: string): string => join(configDirectory, 'release-keys.pem')

const digest = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

/**
 * Fetches the server's release and judges it by what lies on this host: the keys in `release-keys.pem`, which nothing that the
 * server sends can change.
 * @throws Error with a sentence; nothing has been changed then
 */
export const fetchRelease = async (
  transport: Pick<Transport, 'bytes'>,
  host: { readonly configDirectory: string; readonly identity: Pick<Identity, 'unsigned'>; readonly running: string },
  wanted: WantedRelease,
): Promise<{ version: string | null; program: Buffer }> => {
  const pem = readText(releaseKeysFile(host.configDirectory))
  if (pem === null) return fetchUnsigned(transport, host.identity, wanted)
  const manifest = await transport.bytes('/agent/MANIFEST', maxManifestBytes)
  const signature = await transport.bytes('/agent/MANIFEST.sig', maxSignatureBytes)
  const release = verifyRelease(manifest, signature, releaseKeys(pem))
  if (wanted.manifest !== null && digest(manifest) !== wanted.manifest)
    throw new Error('the server has another release by now than the one that was ordered: nothing was changed')
  if (wanted.version !== null && release.version !== wanted.version)
    throw new Error(`the manifest is of version ${release.version} and not ${wanted.version}: nothing was changed`)
  if (!wanted.allowDowngrade) refuseDowngrade(release, host.running)
  const program = await transport.bytes('/agent/stockade-agent.mjs', maxProgramBytes)
  checkFile(release, 'stockade-agent.mjs', program)
  return { version: release.version, program }
}

const fetchUnsigned = async (
  transport: Pick<Transport, 'bytes'>,
  identity: Pick<Identity, 'unsigned'>,
  wanted: WantedRelease,
): Promise<{ version: string | null; program: Buffer }> => {
  if (!identity.unsigned) throw new Error(noKey)
  const program = await transport.bytes('/agent/stockade-agent.mjs', maxProgramBytes)
  if (wanted.program !== null && digest(program) !== wanted.program)
    throw new Error('the server has another program by now than the one that was ordered: nothing was changed')
  return { version: wanted.version, program }
}

export const noKey =
  'this host trusts no release key, so it takes no upgrade from the server: run the install command with --upgrade on the host'
