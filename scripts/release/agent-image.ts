import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unpackPackages } from './debian-packages.ts'
import { packImage } from './image.ts'
import type { ImageRequest } from './image.ts'
import { root } from './places.ts'

/*
 * The image of the agent, for a host whose fail2ban runs in a container: the firewall programs and Python of Debian, fail2ban's classes, Node, and the agent.
 * Its fail2ban is never started, and its settings are not inside: they are a volume that both containers have.
 */

const packages = ['libstdc++6', 'dash', 'python3', 'fail2ban', 'nftables', 'iptables', 'ipset']
const spare = ['etc/*', 'usr/lib/*/gconv', 'usr/lib/*/audit', 'usr/lib/systemd', 'lib/systemd', 'var/*']
/** Which program answers to a name is chosen while a package is installed, which these are not. */
const chosen = ['iptables', 'ip6tables'].flatMap(name =>
  ['', '-save', '-restore'].map(action => [name, action] as const),
)

const writeBase = (folder: string, work: string): void => {
  unpackPackages(packages, { folder, work, spare })
  for (const name of ['etc', 'tmp', 'run', 'var', 'root']) mkdirSync(join(folder, name), { recursive: true })
  chmodSync(join(folder, 'tmp'), 0o1777)
  symlinkSync('/run', join(folder, 'var/run'))
  writeFileSync(join(folder, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n')
  writeFileSync(join(folder, 'etc/group'), 'root:x:0:\n')
  writeFileSync(join(folder, 'etc/nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files dns\n')
  for (const [name, action] of chosen) symlinkSync(`${name}-nft${action}`, join(folder, 'usr/sbin', `${name}${action}`))
  if (!existsSync(join(folder, 'bin/sh'))) symlinkSync('dash', join(folder, 'bin/sh'))
}

const place = 'opt/stockade-agent'
const writeProgram = (tree: string, runtime: string, application: string): void => {
  mkdirSync(join(runtime, place), { recursive: true })
  cpSync(join(tree, 'bin/node'), join(runtime, place, 'node'), { preserveTimestamps: true })
  const current = join(application, place, 'current')
  mkdirSync(current, { recursive: true })
  const program = join(current, 'stockade-agent.mjs')
  cpSync(join(tree, 'lib/agent/dist/stockade-agent.mjs'), program)
  // The action is not here: fail2ban loads it, from the folder of the agent's state that both containers have.
  writeFileSync(join(current, 'stockade_launcher.py'), execFileSync(process.execPath, [program, 'launcher']))
  mkdirSync(join(application, 'usr/bin'), { recursive: true })
  cpSync(join(root, 'packaging/oci/stockade-agent.sh'), join(application, 'usr/bin/stockade-agent'))
  for (const name of readdirSync(current)) chmodSync(join(current, name), 0o644)
  chmodSync(join(application, 'usr/bin/stockade-agent'), 0o755)
}

const config = {
  Env: ['PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root', 'LC_ALL=C.UTF-8', 'MALLOC_ARENA_MAX=1'],
  Entrypoint: ['/usr/bin/stockade-agent'],
  WorkingDir: '/',
  StopSignal: 'SIGTERM',
  Healthcheck: { Test: ['CMD', 'stockade-agent', 'alive'], Interval: 30e9, Timeout: 10e9, StartPeriod: 60e9 },
}

export const makeAgentImage = (asked: ImageRequest): void => {
  const at = (name: string) => join(asked.work, name)
  writeBase(at('base'), at('packages'))
  writeProgram(asked.tree, at('runtime'), at('application'))
  packImage({
    ...asked,
    title: 'Stockade agent',
    name: 'stockade-agent',
    config,
    layers: ['base', 'runtime', 'application'].map(name => ({ name, folder: at(name) })),
  })
}
