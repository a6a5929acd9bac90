import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { release } from './release.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The release that all tests of packages share, and the key that signed it. */
    readonly shipped: { readonly folder: string; readonly keyFile: string }
  }
}

/** Makes one signed release for `npm run check -- ship`: it takes a minute of CPU. */
export default async (project: TestProject): Promise<(() => void) | undefined> => {
  if (process.env.STOCKADE_TEST_SHIP !== '1') return undefined
  const place = mkdtempSync(join(tmpdir(), 'stockade-shipped-'))
  const shipped = { folder: join(place, 'release'), keyFile: join(place, 'release.key') }
  try {
    mkdirSync(shipped.folder)
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    writeFileSync(shipped.keyFile, privateKey.export({ format: 'pem', type: 'pkcs8' }))
    const minisign = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' })
    writeFileSync(join(place, 'minisign.key'), minisign)
    const keys = ['--key', shipped.keyFile, '--minisign-key', join(place, 'minisign.key')]
    await release('--output', shipped.folder, '--compression', 'gzip', ...keys)
  } catch (error) {
    rmSync(place, { recursive: true, force: true })
    throw error
  }
  project.provide('shipped', shipped)
  return () => rmSync(place, { recursive: true, force: true })
}
