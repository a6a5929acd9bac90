import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { epoch, lockfile, root, version } from './places.ts'
import type { Architecture } from './places.ts'

/* What of others is in a release: its licences as one text, and the same list as an SBOM. */

/** Read as data, not bundled: the release holds them as they are, or what was packed of them. */
const beside = ['@node-rs/argon2', '@ip-location-db/asn', '@ip-location-db/geo-whois-asn-country-mmdb']

/** Where npm put a package that `from` depends on: in the nearest node_modules upwards. */
const folderOf = (name: string, from: string): string | null => {
  for (let place = from; ; place = place.slice(0, place.lastIndexOf('node_modules'))) {
    const folder = `${place}${place === '' || place.endsWith('/') ? '' : '/'}node_modules/${name}`
    if (lockfile.packages[folder]) return folder
    if (place === '') return null
  }
}
/** A package's folder and those of everything that it depends on. */
const closureOf = (folder: string, found = new Set<string>()): Set<string> => {
  if (found.has(folder)) return found
  found.add(folder)
  for (const name of Object.keys(lockfile.packages[folder]?.dependencies ?? {})) {
    const next = folderOf(name, folder)
    if (next) closureOf(next, found)
  }
  return found
}
const withDependencies = (names: readonly string[], from: string): string[] =>
  names.flatMap(name => {
    const folder = folderOf(name, from)
    return folder ? [...closureOf(folder)] : []
  })
const isOurs = (folder: string): boolean =>
  lockfile.packages[folder]?.link === true || (folder.startsWith('packages/') && !folder.includes('/node_modules/'))

export interface ThirdParty {
  readonly folder: string
  readonly name: string
  readonly version: string
  readonly license: string | undefined
  readonly integrity: string | undefined
}
/** The packages of a release, by name. */
export const thirdParties = (architecture: Architecture): readonly ThirdParty[] => {
  const bundled = JSON.parse(readFileSync(join(root, 'packages/server/dist/bundled.json'), 'utf8')) as string[]
  const dashboard = Object.keys(lockfile.packages['packages/dashboard']?.dependencies ?? {})
  const native = `node_modules/@node-rs/argon2-linux-${architecture}-gnu`
  const folders = new Set([
    ...bundled,
    ...withDependencies(beside, ''),
    ...withDependencies(dashboard, 'packages/dashboard'),
    native,
    `node_modules/node-linux-${architecture}`,
  ])
  const named = [...folders]
    .filter(folder => !isOurs(folder))
    .map(folder => {
      const { version: at, license, integrity } = lockfile.packages[folder] ?? {}
      if (!at) throw new Error(`${folder} is in the bundle and not in the lockfile: run npm ci and build again`)
      return { folder, name: folder.slice(folder.lastIndexOf('node_modules/') + 13), version: at, license, integrity }
    })
  const key = ({ name, version: at }: ThirdParty) => `${name}@${at}`
  return [...new Map(named.map(one => [key(one), one])).values()].sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

const licenceFile = /^(licen[cs]e|copying|notice|.*-license)([.-].*)?$/i
const textsOf = (folder: string): string[] =>
  !existsSync(join(root, folder))
    ? []
    : readdirSync(join(root, folder), { withFileTypes: true })
        .filter(entry => entry.isFile() && licenceFile.test(entry.name))
        .map(({ name }) => readFileSync(join(root, folder, name), 'utf8').trim())
        .sort()

/** Every package with its version, its licence and the licence's text. */
export const licencesOf = (packages: readonly ThirdParty[]): string => {
  const rule = '-'.repeat(100)
  const parts = packages.map(({ name, version: at, license = 'see below', folder }) =>
    [rule, `${name} ${at}: ${license}`, ...textsOf(folder)].join('\n\n'),
  )
  return `Stockade holds the following works of others.\n\n${parts.join('\n\n')}\n`
}

/** A CycloneDX 1.5 document. */
export const sbomOf = (packages: readonly ThirdParty[]): string => {
  const purl = ({ name, version: at }: ThirdParty) => `pkg:npm/${name.replace('@', '%40')}@${at}`
  const hashOf = (integrity: string | undefined) =>
    integrity?.startsWith('sha512-')
      ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice(7), 'base64').toString('hex') }] }
      : {}
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: { type: 'application', name: 'stockade', version, licenses: [{ license: { id: 'Apache-2.0' } }] },
    },
    components: packages.map(one => ({
      type: 'library',
      'bom-ref': purl(one),
      name: one.name,
      version: one.version,
      purl: purl(one),
      ...(one.license ? { licenses: [{ expression: one.license }] } : {}),
      ...hashOf(one.integrity),
    })),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}
