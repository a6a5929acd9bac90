import { createPublicKey } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '@stockade/contract/error-code.ts'
import { makeAuthority } from './document.ts'

export interface Authority {
  readonly privateKey: string
  readonly publicKey: string
}

const read = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}
/** The pair of the installation in its data folder; it is made where there is none. */
export const ownAuthority = (dataDir: string): Authority => {
  const privateFile = join(dataDir, 'license-private.pem')
  const storedKey = read(privateFile)
  if (storedKey !== null) {
    const publicKey = createPublicKey(storedKey).export({ type: 'spki', format: 'pem' }).toString()
    return { privateKey: storedKey, publicKey }
  }
  const newAuthority = makeAuthority()
  writeFileSync(join(dataDir, 'license-public.pem'), newAuthority.publicKey, { mode: 0o644 })
  // The private key appears whole or not at all: a part of one would block every later attempt.
  const draft = `${privateFile}.new`
  writeFileSync(draft, newAuthority.privateKey, { mode: 0o600, flush: true })
  renameSync(draft, privateFile)
  return newAuthority
}
