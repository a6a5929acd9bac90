import {
  chmodSync,
  cpSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { completionScripts } from '../../packages/cli/src/completion.ts'
import { manualPage } from './man.ts'
import { epoch, root, version } from './places.ts'
import type { Architecture } from './places.ts'
import { licencesOf, sbomOf, thirdParties } from './third-party.ts'

/*
 * One tree for the tarball, the Debian package and the image: the bundle, the Node that it runs on, and what it reads. `lib/` has the
 * layout of `packages/`, so that the server finds its files as in a checkout (packages/server/src/core/places.ts).
 */

/** From a checkout that was built to below `lib/`. */
const files: readonly (readonly [from: string, to: string])[] = [
  ['packages/server/package.json', 'lib/server/package.json'],
  ['packages/server/dist/bundle', 'lib/server/dist/bundle'],
  ['packages/server/dist/places.bin', 'lib/server/dist/places.bin'],
  ['packages/server/src/features/users/common-passwords.bin', 'lib/server/src/features/users/common-passwords.bin'],
  ['packages/server/src/http/docs.css', 'lib/server/src/http/docs.css'],
  ['packages/server/src/http/docs.js', 'lib/server/src/http/docs.js'],
  ['packages/cli/package.json', 'lib/cli/package.json'],
  ['packages/dashboard/dist', 'lib/dashboard/dist'],
  ['packages/agent/dist', 'lib/agent/dist'],
  ['packages/agent/install.sh', 'lib/agent/install.sh'],
  ['packaging/wait-ready.mjs', 'lib/wait-ready.mjs'],
  ['node_modules/@node-rs/argon2', 'lib/node_modules/@node-rs/argon2'],
  ['packaging/stockade.service', 'share/systemd/stockade.service'],
  ['packaging/stockade.env', 'share/stockade.env'],
  ['docs/guides', 'share/doc'],
  ['CHANGELOG.md', 'share/doc/CHANGELOG.md'],
  ['LICENSE', 'LICENSE'],
]

const copy = (from: string, to: string): void => {
  if (!existsSync(from)) throw new Error(`${from} is missing: run npm run build`)
  mkdirSync(dirname(to), { recursive: true })
  // Vite keeps its cache beside what it built.
  cpSync(from, to, { recursive: true, dereference: true, filter: path => !path.endsWith('/.vite') })
}
const isProgram = (path: string): boolean => /\/bin\/(node|stockade)$/.test(path)
/** Modes and times that do not depend on who builds it, and when. */
const settle = (path: string): void => {
  const isFolder = statSync(path).isDirectory()
  if (isFolder) for (const name of readdirSync(path)) settle(join(path, name))
  chmodSync(path, isFolder || isProgram(path) ? 0o755 : 0o644)
  lutimesSync(path, epoch, epoch)
}

/** The manual page, and completion for each shell, where Debian looks for them below `/usr`. */
const forShells = (): Readonly<Record<string, string>> => ({
  'share/man/man1/stockade.1': manualPage(),
  'share/bash-completion/completions/stockade': completionScripts.bash,
  'share/zsh/vendor-completions/_stockade': completionScripts.zsh,
  'share/fish/vendor_completions.d/stockade.fish': completionScripts.fish,
})

/** Makes the tree of a release in a folder of that name, which is emptied before. `architecture`: x64 or arm64. */
export const makeTree = (folder: string, architecture: Architecture): void => {
  const node = join(root, `node_modules/node-linux-${architecture}/bin/node`)
  const native = `node_modules/@node-rs/argon2-linux-${architecture}-gnu`
  rmSync(folder, { recursive: true, force: true })
  for (const [from, to] of files) copy(join(root, from), join(folder, to))
  copy(node, join(folder, 'bin/node'))
  copy(join(root, 'packaging/stockade.sh'), join(folder, 'bin/stockade'))
  copy(join(root, native), join(folder, 'lib', native))
  const packages = thirdParties(architecture)
  writeFileSync(join(folder, 'THIRD-PARTY.txt'), licencesOf(packages))
  writeFileSync(join(folder, 'sbom.cdx.json'), sbomOf(packages))
  for (const [path, text] of Object.entries(forShells())) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  writeFileSync(join(folder, 'VERSION'), `${version}\n`)
  settle(folder)
}
