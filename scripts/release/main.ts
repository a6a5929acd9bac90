import { execFileSync } from 'node:child_process'
import { createHash, createPublicKey } from 'node:crypto'
import {
  chmodSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { hasDebianPrograms } from './debian-packages.ts'
import { makeDeb } from './deb.ts'
import { makeAgentImage } from './agent-image.ts'
import { pack } from './pack.ts'
import { debianNames, epoch, root, version } from './places.ts'
import type { Architecture } from './places.ts'
import { minisignPublicKey, newEcdsaKey, signEcdsa, signMinisign } from './sign.ts'
import { makeServerImage } from './server-image.ts'
import { makeTree } from './tree.ts'

/*
 * `npm run release`: the tarball, the container images, the Debian package, the Node runtimes for hosts, the SBOM, checksums and signatures, in `release/`.
 * Two runs at the same commit give the same bytes.
 */

const { values } = parseArgs({
  options: {
    output: { type: 'string', default: join(root, 'release') },
    architecture: { type: 'string', default: process.arch },
    compression: { type: 'string', default: 'xz' },
    image: { type: 'boolean', default: true },
    key: { type: 'string' },
    'new-key': { type: 'string' },
    'minisign-key': { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
  allowNegative: true,
})
const usage = `npm run release -- [--output FOLDER] [--architecture x64|arm64] [--compression xz|gzip|zstd]
                   [--no-image] [--key FILE] [--minisign-key FILE]
npm run release -- --new-key FILE

--new-key makes a key for --key and nothing else. A release without --key can't upgrade agents from the server: hosts take what their key signed.
--key signs with an ECDSA key on P-256, --minisign-key with an Ed25519 key, both private and in PEM:
  openssl genpkey -algorithm ed25519 -out minisign.key
`
const say = (text: string) => process.stderr.write(`stockade: ${text}\n`)
const sumOf = async (file: string): Promise<string> => {
  const hash = createHash('sha256')
  for await (const part of createReadStream(file)) hash.update(part as Buffer)
  return hash.digest('hex')
}
const released = new Date(epoch * 1000).toISOString().slice(0, 10)
const keyOf = (file: string | undefined): string | null => (file === undefined ? null : readFileSync(file, 'utf8'))

/** Lists files with their sums, as agents, `install.sh` and people check them. */
const manifestOf = async (folder: string, names: readonly string[]): Promise<string> => {
  const sums = await Promise.all(names.map(async name => `sha256 ${await sumOf(join(folder, name))} ${name}`))
  return ['stockade-release 1', `version ${version}`, `released ${released}`, ...sums, ''].join('\n')
}
interface Keys {
  readonly ecdsa: string | null
  readonly minisign: string | null
}
const writeSigned = (folder: string, manifest: string, { ecdsa, minisign }: Keys): void => {
  for (const name of ['MANIFEST', 'MANIFEST.sig', 'MANIFEST.minisig']) rmSync(join(folder, name), { force: true })
  writeFileSync(join(folder, 'MANIFEST'), manifest)
  if (ecdsa) writeFileSync(join(folder, 'MANIFEST.sig'), signEcdsa(manifest, ecdsa))
  if (minisign)
    writeFileSync(
      join(folder, 'MANIFEST.minisig'),
      signMinisign(manifest, minisign, `stockade ${version}, ${released}`),
    )
}

/** What hosts fetch: the agent and the runtimes. Unsigned, an agent's release is as trustworthy as its server. */
const signAgent = async (folder: string, work: string, keys: Keys): Promise<readonly string[]> => {
  const runtimes = readdirSync(join(root, 'packages/server/dist/runtime')).filter(name => name.endsWith('.gz'))
  execFileSync('cp', [
    join(root, 'packages/agent/dist/stockade-agent.mjs'),
    ...runtimes.map(name => join(root, 'packages/server/dist/runtime', name)),
    work,
  ])
  const names = ['stockade-agent.mjs', ...runtimes.sort()]
  for (const name of names) chmodSync(join(work, name), 0o644)
  const manifest = await manifestOf(work, names)
  if (keys.ecdsa) {
    writeSigned(folder, manifest, keys)
    // Hosts that were given no key keep this one at their installation; from then on it decides.
    const publicKey = createPublicKey(keys.ecdsa).export({ format: 'pem', type: 'spki' })
    writeFileSync(join(folder, 'release-keys.pem'), publicKey)
  }
  return runtimes
}
const composeFiles = ['compose.yaml', 'compose-postgres.yaml', 'compose-crazymax.yaml', 'compose-linuxserver.yaml']
const images = { stockade: makeServerImage, 'stockade-agent': makeAgentImage }
/** The files of the images, where this machine can make them. */
const writeImages = (asked: { tree: string; work: string; output: string; architecture: Architecture }): string[] => {
  if (!values.image) return []
  if (asked.architecture !== process.arch || !hasDebianPrograms()) {
    say('no container image is made: that needs Debian on the same architecture')
    return []
  }
  say('making the container images')
  const archives = Object.entries(images).map(([name, make]) => {
    const archive = `${name}-${version}-image-${asked.architecture}.tar`
    const work = join(asked.work, name)
    mkdirSync(work, { recursive: true })
    make({ ...asked, work, output: join(asked.output, archive) })
    return archive
  })
  for (const file of composeFiles) execFileSync('cp', [join(root, 'packaging/oci', file), asked.output])
  return [...archives, ...composeFiles]
}

const architectureOf = (name: string): Architecture => {
  if (name === 'x64' || name === 'arm64') return name
  throw new Error('--architecture is x64 or arm64')
}
const release = async () => {
  // Modes are part of the archives, whoever packs them.
  process.umask(0o022)
  const { compression } = values
  const architecture = architectureOf(values.architecture)
  const output = resolve(process.env.INIT_CWD ?? '.', values.output)
  const keys = { ecdsa: keyOf(values.key), minisign: keyOf(values['minisign-key']) }
  if (!existsSync(join(root, `node_modules/node-linux-${architecture}/bin/node`)))
    throw new Error(`the Node for ${architecture} is not installed: npm ci --cpu=${architecture} --os=linux`)
  mkdirSync(output, { recursive: true })
  const work = join(output, '.work')
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work)
  try {
    const name = `stockade-${version}-linux-${architecture}`
    const tree = join(work, name)
    say('gathering the files')
    makeTree(tree, architecture)
    const runtimes = await signAgent(join(tree, 'lib/agent/dist'), work, keys)
    execFileSync('find', [join(tree, 'lib/agent'), '-exec', 'touch', '-d', `@${epoch}`, '{}', '+'])
    execFileSync('cp', [join(tree, 'sbom.cdx.json'), join(output, 'sbom.cdx.json')])
    say('packing the tarball')
    pack(join(output, `${name}.tar.gz`), work, [name])
    pack(join(output, `stockade-agent-runtimes-${version}.tar`), work, runtimes)
    const packedImages = writeImages({ tree, work: join(work, 'image'), output, architecture })
    say('packing the Debian package')
    const deb = `stockade_${version}-1_${debianNames[architecture]}.deb`
    makeDeb({ tree, output: join(output, deb), architecture, compression })
    const artefacts = [
      ...packedImages,
      `${name}.tar.gz`,
      `stockade-agent-runtimes-${version}.tar`,
      deb,
      'sbom.cdx.json',
    ].sort()
    writeSigned(output, await manifestOf(output, artefacts), keys)
    if (keys.minisign) writeFileSync(join(output, 'minisign.pub'), minisignPublicKey(keys.minisign))
    const sums = await Promise.all(artefacts.map(async file => `${await sumOf(join(output, file))}  ${file}\n`))
    writeFileSync(join(output, 'SHA256SUMS'), sums.join(''))
    if (!keys.ecdsa)
      say(
        'this release is not signed, so a server that runs it cannot upgrade agents. Make a key once with --new-key release.key, and give --key release.key',
      )
    process.stdout.write(`${artefacts.map(file => join(output, file)).join('\n')}\n`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

const makeKey = (given: string): void => {
  const file = resolve(process.env.INIT_CWD ?? '.', given)
  try {
    // One that is there signs releases already, and hosts trust it.
    writeFileSync(file, newEcdsaKey(), { flag: 'wx', mode: 0o600 })
    say(
      `${file} signs releases: npm run release -- --key ${file}. Keep it off servers, and safe: hosts trust no other one`,
    )
  } catch (error) {
    say(`${file} can't be made: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}

if (values.help) process.stdout.write(usage)
else if (values['new-key'] !== undefined) makeKey(values['new-key'])
else
  await release().catch((error: unknown) => {
    say(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  })
