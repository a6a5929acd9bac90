import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { runProgram } from '../process.ts'
import type { UnitFile } from './installation.ts'

/** How the agent and its upgrader are started on this host. */
export interface InitSystem {
  readonly units: readonly UnitFile[]
  /** Makes changed unit files known and starts the agent again. @throws Error with a sentence */
  restartAgent(): Promise<void>
  /** Starts the upgrader apart from the agent, so that it outlives the agent's restart. @throws Error with a sentence */
  startUpgrader(): Promise<void>
}

const systemdUnits = (directory: string): UnitFile[] =>
  [
    ['systemd', 'stockade-agent.service'],
    ['knock', 'stockade-knock.service'],
    ['shield', 'stockade-shield.service'],
    ['upgrade', 'stockade-agent-upgrade.service'],
  ].map(([unit = '', file = '']) => ({ unit, path: join(directory, file), mode: 0o644 }))

const ran = async (command: readonly string[]): Promise<void> => {
  const { code, stderr } = await runProgram(command, { timeout: 90_000 })
  if (code !== 0) throw new Error(`${command.join(' ')} failed: ${stderr.trim().slice(0, 300)}`)
}

const systemd = (directory: string): InitSystem => ({
  units: systemdUnits(directory),
  async restartAgent() {
    await ran(['systemctl', 'daemon-reload'])
    await ran(['systemctl', 'restart', 'stockade-agent'])
  },
  startUpgrader: () => ran(['systemctl', 'start', '--no-block', 'stockade-agent-upgrade']),
})

/** OpenRC's supervisor ends the agent's process alone, so a session of its own is apart enough. */
const openrc = (program: string): InitSystem => ({
  units: [{ unit: 'openrc', path: '/etc/init.d/stockade-agent', mode: 0o755 }],
  restartAgent: () => ran(['rc-service', 'stockade-agent', 'restart']),
  startUpgrader: () =>
    new Promise((resolve, reject) => {
      const child = spawn(program, ['upgrade', '--ordered'], { detached: true, stdio: 'ignore' })
      child.on('error', reject)
      child.on('spawn', () => {
        child.unref()
        resolve()
      })
    }),
})

/** Null where nothing starts the agent by itself: then nothing could start it again, either. */
export const findInitSystem = (program: string, unitDirectory: string): InitSystem | null => {
  if (fs.existsSync('/run/systemd/system')) return systemd(unitDirectory)
  return fs.existsSync('/sbin/openrc-run') ? openrc(program) : null
}
