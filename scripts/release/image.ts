import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pack } from './pack.ts'
import { debianNames, epoch, version } from './places.ts'
import type { Architecture } from './places.ts'

/*
 * Container images, made without a daemon and without root: an archive in the layout of OCI that also has the manifest of `docker save`, so that
 * `docker load` and `podman load` of any age take it.
 */

/** The files of a layer belong to root. */
export interface LayerFolder {
  readonly name: string
  readonly folder: string
  /** A folder of another owner, by number: a volume that is made from it takes the owner along. */
  readonly owned?: { readonly name: string; readonly user: number }
}

const sumOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex')
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
const layerOf = ({ name, folder, owned }: LayerFolder, write: (content: Buffer) => Blob): Layer => {
  const file = `${folder}.tar`
  const names = readdirSync(folder).sort()
  pack(
    file,
    folder,
    names.filter(each => each !== owned?.name),
  )
  if (owned) {
    pack(`${file}.owned.tar`, folder, [owned.name], owned.user)
    execFileSync('tar', ['--concatenate', '-f', file, `${file}.owned.tar`])
  }
  const archive = readFileSync(file)
  const packed = execFileSync('gzip', ['-n', '-6', '-c'], { input: archive, maxBuffer: 2 ** 30 })
  return { name, diffId: `sha256:${sumOf(archive)}`, blob: write(packed) }
}

const typeOf = (name: string) => `application/vnd.oci.image.${name}`
const configOf = (config: object, layers: readonly Layer[], architecture: Architecture): string => {
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
const writeIndex = (
  { image, name }: { readonly image: string; readonly name: string },
  manifest: Blob,
  about: Blob,
  layers: readonly Layer[],
): void => {
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

/** What an image is made from and where it goes. */
export interface ImageRequest {
  /** The files of a release, which stay as they are. */
  readonly tree: string
  /** An empty folder of its own. */
  readonly work: string
  readonly output: string
  readonly architecture: Architecture
}

/** Makes the archive. */
export const packImage = (
  asked: ImageRequest & {
    readonly title: string
    /** Its name without the version. */
    readonly name: string
    /** As the specification of OCI has it, without labels. */
    readonly config: object
    readonly layers: readonly LayerFolder[]
  },
): void => {
  const { title, name, work, output, architecture } = asked
  const image = join(work, 'image')
  const write = blobWriter(image)
  const layers = asked.layers.map(layer => layerOf(layer, write))
  const labels = { title, version, licenses: 'Apache-2.0' }
  const Labels = Object.fromEntries(
    Object.entries(labels).map(([key, value]) => [`org.opencontainers.image.${key}`, value]),
  )
  const about = write(configOf({ ...asked.config, Labels }, layers, architecture))
  const manifest = write(manifestOf(about, layers))
  writeIndex({ image, name: `${name}:${version}` }, manifest, about, layers)
  pack(output, image, readdirSync(image).sort())
}
