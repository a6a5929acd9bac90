import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundleInputs } from '../packages/server/programs.cjs'
import { createGzip } from 'node:zlib'

/* Builds what is served: the agent, the dashboard, and the Node runtimes for hosts without one. Skips what is fresh. */

const root = fileURLToPath(new URL('..', import.meta.url))
const say = text => process.stderr.write(`stockade: ${text}\n`)
const run = promisify(execFile)
const force = process.argv.includes('--force')
/** Tests run hosts on this machine only. */
const architectures = process.argv.includes('--for-tests') ? [process.arch] : ['x64', 'arm64']

const newest = path => {
  if (!existsSync(path)) return 0
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(
    0,
    ...readdirSync(path)
      .filter(name => !['node_modules', 'dist', 'test'].includes(name))
      .map(name => newest(join(path, name))),
  )
}
/** True where the output is older than what it is made of. */
const stale = (output, inputs) => force || newest(output) < Math.max(...inputs.map(input => newest(join(root, input))))

const builders = [
  [
    'agent',
    'packages/agent/dist/stockade-agent.mjs',
    ['packages/agent', 'packages/client', 'package-lock.json'],
    'buildAgent',
  ],
  [
    'dashboard',
    'packages/dashboard/dist/index.html',
    ['packages/dashboard', 'packages/client', 'packages/contract', 'package-lock.json'],
    'buildDashboard',
  ],
  [
    'server',
    'packages/server/dist/places.bin',
    ['packages/server/build.mjs', 'packages/server/src/features/ipinfo', 'package-lock.json'],
    'packPlaces',
  ],
  ['server', 'packages/server/dist/bundle/server/src/main.js', bundleInputs, 'buildServer'],
]
const buildAll = async () => {
  for (const [name, output, inputs, build] of builders) {
    if (!stale(join(root, output), inputs)) continue
    say(`building the ${name}`)
    await (await import(`../packages/${name}/build.mjs`))[build]()
  }
}

/** An architecture's Node out of the same pinned package that Stockade runs on. */
const runtimes = join(root, 'packages/server/dist/runtime')
mkdirSync(runtimes, { recursive: true })
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
const packRuntime = async arch => {
  const name = `node-linux-${arch}`
  const output = join(runtimes, `${name}.gz`)
  const pinned = lock.packages[`node_modules/${name}`]
  if (
    !pinned ||
    (existsSync(output) &&
      existsSync(`${output}.sha256`) &&
      !force &&
      newest(output) > 0 &&
      marked(output) === pinned.version)
  )
    return
  const work = mkdtempSync(join(tmpdir(), 'stockade-node-'))
  try {
    let binary = join(root, 'node_modules', name, 'bin/node')
    if (!existsSync(binary)) {
      say(`fetching the Node runtime for ${arch} hosts`)
      const [{ filename, integrity }] = JSON.parse(
        (
          await run('npm', ['pack', `${name}@${pinned.version}`, '--json', '--silent'], {
            cwd: work,
            timeout: 120_000,
          })
        ).stdout,
      )
      const file = join(work, filename)
      const hash = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
      if (hash !== pinned.integrity || integrity !== pinned.integrity)
        throw new Error('its hash is not the one in the lockfile')
      await run('tar', ['xzf', file, '-C', work])
      binary = join(work, 'package/bin/node')
    }
    say(`packing the Node runtime for ${arch} hosts`)
    await pipeline(createReadStream(binary), createGzip({ level: 6 }), createWriteStream(`${output}.part`))
    renameSync(`${output}.part`, output)
    const sum = createHash('sha256').update(readFileSync(output)).digest('hex')
    writeFileSync(`${output}.sha256`, `${sum}  ${name}.gz\n`)
    writeFileSync(`${output}.version`, pinned.version)
  } catch (error) {
    // Hosts of that architecture then use their distribution's Node, or are told what to install.
    say(`no Node runtime for ${arch} hosts will be offered: ${error.message.split('\n')[0]}`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
function marked(output) {
  return existsSync(`${output}.version`) ? readFileSync(`${output}.version`, 'utf8') : ''
}

// Side by side: a runtime is fetched over the network and packed in a thread. What fails lets the others finish and tidy up.
const done = await Promise.allSettled([buildAll(), ...architectures.map(packRuntime)])
for (const one of done) if (one.status === 'rejected') throw one.reason
