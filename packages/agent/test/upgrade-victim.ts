import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, join } from 'node:path'
import { createInstallation } from '../src/upgrade/installation.ts'
import { readOrder, writeOutcome } from '../src/upgrade/order.ts'
import { carryOutUpgrade } from '../src/upgrade/upgrader.ts'

/*
 * An upgrader as a process of its own, which kills itself with SIGKILL before the change of the disk with that number, or before the
 * restart of the agent. Prints how many such moments there were.
 * Arguments: folder of the host, program of the release, its version, number of the moment (0: none), whether the server answers it.
 */
const [root = '', program = '', version = '', killAt = '0', isFit = 'yes'] = process.argv.slice(2)
let moments = 0
const moment = (): void => {
  if (++moments === Number(killAt)) process.kill(process.pid, 'SIGKILL')
}
const changes = ['mkdirSync', 'openSync', 'writeFileSync', 'fsyncSync', 'renameSync', 'rmSync', 'symlinkSync'] as const
for (const name of changes) {
  const real = fs[name] as (...given: unknown[]) => unknown
  Object.assign(fs, {
    [name]: (...given: unknown[]) => {
      moment()
      return real(...given)
    },
  })
}
syncBuiltinESMExports()

const state = join(root, 'state')
const unit = join(root, 'units', 'stockade-agent.service')
const installation = createInstallation(root, [{ unit: 'systemd', path: unit, mode: 0o644 }])
const order = readOrder(state)
if (order === null) throw new Error('no upgrade is ordered')
const outcome = await carryOutUpgrade(order, {
  state,
  installation,
  init: {
    restartAgent: () => {
      moment()
      return Promise.resolve()
    },
  },
  stage: () => installation.stage(fs.readFileSync(program), version),
  isAlive: () => isFit === 'yes' || !basename(installation.current() ?? '').startsWith(`${version}-`),
  reaches: () => Promise.resolve(true),
  wait: () => {
    moment()
    return new Promise(resolve => setTimeout(resolve, 1))
  },
  // A minute takes six milliseconds here.
  now: () => performance.now() * 10_000,
  say: () => undefined,
})
writeOutcome(state, outcome)
process.stdout.write(String(moments))
