import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/*
 * `npm run check -- repeat`: `npm test` again and again, each time from a fresh clone of the newest commit: quiet, beside four busy loops, and bound to
 * one core. Prints a line a run; ends with 1 where one failed, and keeps its output. `--quiet 1 --busy 0 --one 0` takes a part, `--script test:all` the
 * whole suite, `--commit REV` another commit.
 */
const { values: options } = parseArgs({
  options: {
    quiet: { type: 'string', default: '4' },
    busy: { type: 'string', default: '3' },
    one: { type: 'string', default: '3' },
    script: { type: 'string', default: 'test' },
    commit: { type: 'string', default: 'HEAD' },
  },
})
const root = fileURLToPath(new URL('..', import.meta.url))
const busyLoops = 4

/** CPU seconds that the whole machine has spent since it started (proc(5)): also those of programs whose parents did not wait for them. */
const machineCpu = () => {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = readFileSync('/proc/stat', 'utf8')
    .split('\n')[0]
    .split(/\s+/)
    .slice(1)
    .map(Number)
  return (user + nice + system + irq + softIrq) / 100
}
const git = (...args) => {
  const { status, stderr } = spawnSync('git', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}
const clone = folder => {
  git('clone', '-q', root, folder)
  git(
    '-C',
    folder,
    'checkout',
    '-q',
    spawnSync('git', ['rev-parse', options.commit], { cwd: root, encoding: 'utf8' }).stdout.trim(),
  )
}

/** One run. Resolves to whether it passed. */
const run = async (name, isBusy, prefix) => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-repeat-'))
  const checkout = join(folder, 'checkout')
  clone(checkout)
  const loops = Array.from({ length: isBusy ? busyLoops : 0 }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  )
  const [program, ...args] = [...prefix, 'npm', 'run', options.script]
  const [started, cpu] = [performance.now(), machineCpu()]
  const child = spawn(program, args, { cwd: checkout, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', data => (output += data))
  const code = await new Promise(resolve => child.on('close', resolve))
  for (const loop of loops) loop.kill()
  const counts = output.match(/^\d+ passed, \d+ failed, \d+ skipped$/gm)?.at(-1) ?? 'no count'
  const figures = isBusy ? '' : `, ${Math.round(machineCpu() - cpu)} s of CPU`
  const seconds = Math.round((performance.now() - started) / 1000)
  process.stdout.write(`${name}: ${code === 0 ? 'passed' : 'FAILED'} in ${seconds} s${figures}: ${counts}\n`)
  if (code !== 0) process.stdout.write(`${output.slice(-20_000)}\n`)
  rmSync(folder, { recursive: true, force: true })
  return code === 0
}

const kinds = [
  ['quiet', Number(options.quiet), false, []],
  [`beside ${busyLoops} busy loops`, Number(options.busy), true, []],
  ['on one core', Number(options.one), false, ['taskset', '-c', '0']],
]
let failed = 0
for (const [name, count, isBusy, prefix] of kinds)
  for (let number = 1; number <= count; number++)
    if (!(await run(`${name} ${number}/${count}`, isBusy, prefix))) failed++
process.exit(failed === 0 ? 0 : 1)
