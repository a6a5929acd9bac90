import { chmodSync, cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unpackPackages } from './debian-packages.ts'
import { packImage } from './image.ts'
import type { ImageRequest } from './image.ts'
import { root } from './places.ts'

/*
 * The image of the server. Three layers, so that an update moves the last one only: the C library of Debian, the Node that it runs on, the
 * application. Nothing else is inside, also no shell.
 */

/** Its numbers in the image; nobody else has an account there. */
const user = 10001
const libraries = ['libc6', 'libgcc-s1', 'libstdc++6']
/** What of these packages no program needs at run time. */
const spare = ['etc', 'usr/lib/*/gconv', 'usr/lib/*/audit', 'usr/bin', 'sbin', 'usr/sbin']

const writeBase = (folder: string, work: string): void => {
  unpackPackages(libraries, { folder, work, spare })
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
}

export const makeServerImage = (asked: ImageRequest): void => {
  const at = (name: string) => join(asked.work, name)
  writeBase(at('base'), at('packages'))
  writeProgram(asked.tree, at('runtime'), at('application'))
  packImage({
    ...asked,
    title: 'Stockade',
    name: 'stockade',
    config,
    layers: [
      { name: 'base', folder: at('base'), owned: { name: 'data', user } },
      { name: 'runtime', folder: at('runtime') },
      { name: 'application', folder: at('application') },
    ],
  })
}
