import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import type { Identity } from './config.ts'
import type { ServiceKind } from './commands/jail-handlers.ts'
import { readText } from './files.ts'
import type { Log } from './log.ts'
import { osName } from './metrics.ts'
import type { Options } from './options.ts'
import { runProgram } from './process.ts'
import { action } from './python/programs.ts'
import { beat, onBeat, untilBeat } from './schedule.ts'
import { errorText } from './text.ts'
import { agentVersion } from './version.ts'

/* What the agent finds on its host when it starts. */

const nftKnownFor = 600_000

/** The installer puts the action beside the agent, where a confined fail2ban may read it too. */
export const installedAction = (): string | null => {
  const file = join(dirname(process.argv[1] ?? ''), 'stockade_action.py')
  return readText(file) === action ? file : null
}

export const serviceKind = (options: Options): ServiceKind => {
  if (options.service !== 'auto') return options.service
  // The init system does not start a fail2ban with a private configuration.
  if (options.f2bConfig !== '/etc/fail2ban') return 'client'
  if (fs.existsSync('/run/systemd/system')) return 'systemd'
  return fs.existsSync('/sbin/openrc-run') ? 'openrc' : 'client'
}

/** Whether nftables works on this host; asked again every ten minutes. */
export const createNftCheck = (nft: readonly string[], now: () => number): (() => Promise<boolean>) => {
  let isWorking = false
  let checkedAt = -Infinity
  return async () => {
    if (now() - checkedAt > nftKnownFor) {
      checkedAt = now()
      isWorking = (await runProgram([...nft, 'list', 'tables'], { timeout: 5000 })).code === 0
    }
    return isWorking
  }
}

/** Removes staged copies that a crash left. */
export const removeStages = (directory: string): void => {
  for (const name of fs.readdirSync(directory))
    if (name.startsWith('stage-')) fs.rmSync(join(directory, name), { recursive: true, force: true })
}

/** Work at intervals. A run that takes longer than its interval skips the next ones. */
export interface Intervals {
  /** `ms` is a multiple of `beat`. */
  every(ms: number, work: () => Promise<void>): void
  stop(): void
}

export const createIntervals = (log: Log): Intervals => {
  const works: { readonly ms: number; dueAt: number; readonly run: () => void }[] = []
  const nextAt = (ms: number): number => performance.now() + untilBeat(ms)
  const stop = onBeat(beat, () => {
    const now = performance.now()
    for (const work of works) {
      // The timer may be a little early.
      if (now < work.dueAt - beat / 2) continue
      work.dueAt = nextAt(work.ms)
      work.run()
    }
  })
  return {
    every(ms, work) {
      let isBusy = false
      const run = (): void => {
        if (isBusy) return
        isBusy = true
        work()
          .catch((error: unknown) => log.warn(`unexpected: ${errorText(error)}`))
          .finally(() => {
            isBusy = false
          })
      }
      works.push({ ms, dueAt: nextAt(ms), run })
    },
    stop,
  }
}

/** What every heartbeat says of the host and its agent. */
export const aboutHost = (identity: Pick<Identity, 'server_id' | 'agent_id'>) => ({
  hostname: () => hostname().slice(0, 253),
  os: osName(),
  agentVersion,
  agentId: identity.agent_id,
  machine: machineDigest(identity.server_id),
})

/**
 * Tells two machines with one agent.json, or with one enrolment token, apart: a digest of the server's id, or of the token, and the machine id, so
 * that the machine id itself stays on the host. Null where the host has none.
 */
export const machineDigest = (salt: string): string | null => {
  for (const file of ['/etc/machine-id', '/var/lib/dbus/machine-id']) {
    try {
      const id = fs.readFileSync(file, 'utf8').trim()
      if (/^[0-9a-f]{32}$/.test(id)) return createHash('sha256').update(`${salt}:${id}`).digest('hex').slice(0, 32)
    } catch {
      // The next file may be there.
    }
  }
  return null
}
