import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pack } from './pack.ts'
import { debianNames, epoch, root, version } from './places.ts'
import type { Architecture } from './places.ts'

/*
 * The container image of a release, made without a daemon and without root: an archive in the layout of OCI that also has the manifest of
 * `docker save`, so that `docker load` and `podman load` of any age take it. Three layers, so that an update moves the last one only: the C
 * library of Debian, the Node that it runs on, the application. Nothing else is inside, also no shell.
 */

/** Its numbers in the image; nobody else has an account there. */
const user = 10001
const libraries = ['libc6', 'libgcc-s1', 'libstdc++6']
/** What of these packages no program needs at run time. */
const spare = ['etc', 'usr/lib/*/gconv', 'usr/lib/*/audit', 'usr/bin', 'sbin', 'usr/sbin']

/** Debian's packages, fetched by apt and unpacked; nothing of them is run. */
const unpackLibraries = (folder: string, work: string, architecture: Architecture): void => {
  mkdirSync(work, { recursive: true })
  const download = (names: readonly string[]) =>
    execFileSync('apt-get', ['download', '-qq', ...names.map(name => `${name}:${debianNames[architecture]}`)], {
      cwd: work,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  download(libraries)
  // It has the licence of the other two, under a name that tells its version.
  const compiler = readdirSync(work).find(name => name.startsWith('libgcc'))
  const depends = execFileSync('dpkg-deb', ['-f', join(work, compiler ?? ''), 'Depends'], { encoding: 'utf8' })
  download(depends.match(/gcc-\d+-base/) ?? [])
  for (const name of readdirSync(work)) execFileSync('dpkg-deb', ['-x', join(work, name), folder])
  execFileSync('sh', ['-c', `rm -rf ${spare.join(' ')}; find usr/share -type f ! -name copyright -delete`], {
    cwd: folder,
  })
}
const writeBase = (folder: string, work: string, architecture: Architecture): void => {
  mkdirSync(folder, { recursive: true })
  unpackLibraries(folder, work, architecture)
  for (const name of ['etc', 'data', 'tmp', 'usr/bin']) mkdirSync(join(folder, name), { recursive: true })
  chmodSync(join(folder, 'tmp'), 0o1777)
  chmodSync(join(folder, 'data'), 0o700)
  writeFileSync(join(folder, 'etc/passwd'), `stockade:x:${user}:${user}:Stockade:/data:/nonexistent\n`)
  writeFileSync(join(folder, 'etc/group'), `stockade:x:${user}:\n`)
  writeFileSync(join(folder, 'etc/nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files dns\n')
  symlinkSync('/opt/stockade/bin/stockade', join(folder, 'usr/bin/stockade'))
}
/** What changes with each release, and beside it Node with the native module, which rarely do. */
const writeProgram = (tree: string, runtime: string, application: string): void => {
  for (const folder of [runtime, application]) mkdirSync(join(folder, 'opt'), { recursive: true })
  cpSync(tree, join(application, 'opt/stockade'), { recursive: true, preserveTimestamps: true })
  const of = (folder: string, path: string) => join(folder, 'opt/stockade', path)
  for (const path of ['bin/node', 'lib/node_modules/@node-rs']) {
    mkdirSync(join(of(runtime, path), '..'), { recursive: true })
    renameSync(of(application, path), of(runtime, path))
  }
  rmSync(of(application, 'share'), { recursive: true })
  cpSync(join(root, 'packaging/oci/stockade.mjs'), of(application, 'bin/stockade'))
  chmodSync(of(application, 'bin/stockade'), 0o755)
}

const sumOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex')
const config = {
  User: `${user}:${user}`,
  Env: [
    'PATH=/usr/bin',
    'HOME=/data',
    'STOCKADE_DATA_DIR=/data',
    'STOCKADE_HOST=0.0.0.0',
    'STOCKADE_PORT=8420',
    'STOCKADE_TLS=self',
    // The same as bin/stockade of a release sets.
    'MALLOC_ARENA_MAX=1',
    'NODE_OPTIONS=--max-semi-space-size=4 --max-old-space-size=1024',
  ],
  Entrypoint: ['/usr/bin/stockade'],
  Cmd: ['serve'],
  WorkingDir: '/data',
  Volumes: { '/data': {} },
  ExposedPorts: { '8420/tcp': {} },
  StopSignal: 'SIGTERM',
  // Docker's own; others read the one of the compose file.
  Healthcheck: {
    Test: ['CMD', 'stockade', 'healthy'],
    Interval: 30e9,
    Timeout: 10e9,
    StartPeriod: 900e9,
  },
  Labels: {
    'org.opencontainers.image.title': 'Stockade',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': 'Apache-2.0',
  },
}

/** Whether this machine can make one: Debian's packages are fetched and unpacked by their own programs. */
export const canMakeImage = (): boolean => ['/usr/bin/apt-get', '/usr/bin/dpkg-deb'].every(path => existsSync(path))

/** A file of an archive, named by its sum, as the layout of OCI has it. */
interface Blob {
  readonly digest: string
  readonly size: number
}
const blobWriter = (image: string) => {
  mkdirSync(join(image, 'blobs/sha256'), { recursive: true })
  return (content: Buffer | string): Blob => {
    const sum = sumOf(content)
    writeFileSync(join(image, 'blobs/sha256', sum), content)
    return { digest: `sha256:${sum}`, size: Buffer.byteLength(content) }
  }
}
interface Layer {
  readonly name: string
  /** The sum of the unpacked archive. */
  readonly diffId: string
  readonly blob: Blob
}
/** Files of folders that are owned by root, and `data`, which a volume that is made from it takes its owner from. */
const layerOf = (name: string, folder: string, write: (content: Buffer) => Blob): Layer => {
  const file = `${folder}.tar`
  const names = readdirSync(folder).sort()
  pack(
    file,
    folder,
    names.filter(each => each !== 'data'),
  )
  if (names.includes('data')) {
    pack(`${file}.data.tar`, folder, ['data'], user)
    execFileSync('tar', ['--concatenate', '-f', file, `${file}.data.tar`])
  }
  const archive = readFileSync(file)
  const packed = execFileSync('gzip', ['-n', '-6', '-c'], { input: archive, maxBuffer: 2 ** 30 })
  return { name, diffId: `sha256:${sumOf(archive)}`, blob: write(packed) }
}

const typeOf = (name: string) => `application/vnd.oci.image.${name}`
const configOf = (layers: readonly Layer[], architecture: Architecture): string => {
  const created = new Date(epoch * 1000).toISOString()
  return JSON.stringify({
    architecture: debianNames[architecture],
    os: 'linux',
    created,
    config,
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ name }) => ({ created, created_by: `npm run release: ${name}` })),
  })
}
const manifestOf = (about: Blob, layers: readonly Layer[]): string =>
  JSON.stringify({
    schemaVersion: 2,
    mediaType: typeOf('manifest.v1+json'),
    config: { mediaType: typeOf('config.v1+json'), ...about },
    layers: layers.map(({ blob }) => ({ mediaType: typeOf('layer.v1.tar+gzip'), ...blob })),
  })
/** What readers of either layout look for first. */
const writeIndex = (image: string, manifest: Blob, about: Blob, layers: readonly Layer[]): void => {
  const name = `stockade:${version}`
  const pathOf = ({ digest }: Blob) => `blobs/${digest.replace(':', '/')}`
  const write = (file: string, value: unknown) => writeFileSync(join(image, file), JSON.stringify(value))
  const annotations = {
    'io.containerd.image.name': `docker.io/library/${name}`,
    'org.opencontainers.image.ref.name': version,
  }
  write('oci-layout', { imageLayoutVersion: '1.0.0' })
  write('index.json', {
    schemaVersion: 2,
    mediaType: typeOf('index.v1+json'),
    manifests: [{ mediaType: typeOf('manifest.v1+json'), ...manifest, annotations }],
  })
  write('manifest.json', [{ Config: pathOf(about), RepoTags: [name], Layers: layers.map(({ blob }) => pathOf(blob)) }])
}

/** Makes the archive from a tree, which stays as it is. `work` is an empty folder of its own. */
export const makeImage = (asked: {
  readonly tree: string
  readonly work: string
  readonly output: string
  readonly architecture: Architecture
}): void => {
  const { tree, work, output, architecture } = asked
  const at = (name: string) => join(work, name)
  const image = at('image')
  writeBase(at('base'), at('packages'), architecture)
  writeProgram(tree, at('runtime'), at('application'))
  const write = blobWriter(image)
  const layers = ['base', 'runtime', 'application'].map(name => layerOf(name, at(name), write))
  const about = write(configOf(layers, architecture))
  const manifest = write(manifestOf(about, layers))
  writeIndex(image, manifest, about, layers)
  pack(output, image, readdirSync(image).sort())
}
