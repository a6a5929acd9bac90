import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { places as files } from './src/core/places.ts'
import { packFiles } from './src/features/ipinfo/shipped.ts'

const packages = fileURLToPath(new URL('..', import.meta.url))
const dist = join(packages, 'server/dist')

/** Packs the networks and countries of all addresses, which the server reads from the disk (place-pack.ts). */
export const packPlaces = async () => {
  mkdirSync(dist, { recursive: true })
  // Renamed into its place: a server that starts meanwhile reads all of the file or none of it.
  writeFileSync(`${dist}/places.bin.new`, await packFiles(files.placeFiles()))
  renameSync(`${dist}/places.bin.new`, files.packedPlaces)
}

/*
 * The server, its administration and the command line as JavaScript in few files: a third of the CPU of a start, and 60 MB of
 * memory less than from the sources, whose types Node strips at each start.
 */

const bundle = join(dist, 'bundle')
/** The files that run as a thread or process of their own, or that the database's thread loads by their address. */
const loadedByAddress = /new URL\('(\.\/[^']+\.ts)', import\.meta\.url\)/g

const filesBelow = folder =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
const sourcesOf = folder =>
  filesBelow(folder).filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('/testing/'))

/** The path of a source below `packages/`, as the bundle has it. */
const nameOf = file => relative(packages, file).replace(/\.ts$/, '.js')
const entryPoints = () => {
  const threads = sourcesOf(join(packages, 'server/src')).flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(loadedByAddress)].map(([, path]) => join(file, '..', path)),
  )
  const programs = ['server/src/main.ts', 'server/src/admin/main.ts']
  return [...programs.map(path => join(packages, path)), ...threads]
}

/** Files that are read, not imported, stay where the sources are: `import.meta.url` keeps its meaning. */
const places = {
  name: 'places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/packages\/[^/]+\/src\/.*\.ts$/ }, ({ path: file }) => {
      const contents = readFileSync(file, 'utf8')
        .replace(loadedByAddress, (_, path) => `new URL('${nameOf(join(file, '..', path))}', bundleUrl)`)
        .replaceAll('import.meta.url', `new URL('${relative(packages, file)}', sourcesUrl).href`)
      return { contents, loader: 'ts' }
    }),
}
/** Stands at the top of each file: the places above, and what CommonJS packages expect. */
const banner = `
import { createRequire as requireFrom } from 'node:module'
import { fileURLToPath as pathOf } from 'node:url'
const bundleUrl = import.meta.url.slice(0, import.meta.url.lastIndexOf('/dist/bundle/') + '/dist/bundle/'.length)
const sourcesUrl = new URL('../../../', bundleUrl)
const require = requireFrom(import.meta.url), __filename = pathOf(import.meta.url), __dirname = pathOf(new URL('.', import.meta.url))
`

/**
 * The folders of the packages that the bundle holds code of, such as `node_modules/fastify` or `packages/server/node_modules/ajv`: for the licences of a
 * release. Inputs are named from the folder of the packages.
 */
const bundledFolders = ({ inputs }) => {
  const folders = Object.keys(inputs).flatMap(
    file =>
      /^.*?(?:^|\/)(?:\.\.\/)?node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? [],
  )
  return [...new Set(folders.map(folder => (folder.startsWith('../') ? folder.slice(3) : `packages/${folder}`)))].sort()
}

export const buildServer = async () => {
  const { metafile } = await build({
    metafile: true,
    absWorkingDir: packages,
    entryPoints: entryPoints(),
    outdir: bundle,
    outbase: packages,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    // Names stay, so that the stack of an error in the log can be read.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    external: ['@node-rs/argon2', 'pg-native'],
    plugins: [places],
    banner: { js: banner },
    logLevel: 'warning',
  })
  writeFileSync(join(dist, 'bundled.json'), `${JSON.stringify(bundledFolders(metafile), null, 2)}\n`)
  // Chunks of an earlier build go after the new ones are there: a server that runs may begin a thread meanwhile.
  const written = new Set(Object.keys(metafile.outputs).map(file => join(packages, file)))
  for (const file of filesBelow(bundle)) if (!written.has(file)) rmSync(file)
}
