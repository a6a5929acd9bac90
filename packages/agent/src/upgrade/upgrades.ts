import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { readOr } from '@stockade/contract/untrusted.ts'
import type { Identity } from '../config.ts'
import { Deferred, Refused } from '../commands/refused.ts'
import type { Handlers } from '../commands/params.ts'
import type { Journal } from '../commands/journal.ts'
import type { Log } from '../log.ts'
import type { Options } from '../options.ts'
import { errorText } from '../text.ts'
import { findInitSystem } from './init-system.ts'
import { createInstallation } from './installation.ts'
import { forgetOutcome, readOrder, readOutcome, writeOrder, writeOutcome } from './order.ts'
import { noKey, releaseKeysFile } from './release-source.ts'

/** What a heartbeat says about upgrades of this host's agent. */
export interface UpgradeReport {
  /** Whether the server may order one. */
  readonly able: boolean
  /** Why not, in a sentence. */
  readonly reason: string | null
  /** Name of the release that runs; null where the installer did not put it there. */
  readonly release: string | null
  /** The release that a return leads to. */
  readonly previous: string | null
}

export interface Upgrades {
  report(): UpgradeReport
  readonly handler: Handlers['upgrade-agent']
  /** Whether the command waits for the upgrader. */
  isUnderWay(commandId: string): boolean
  /** Hands the outcome of an upgrade to the journal, once. Runs every second. */
  settle(journal: Pick<Journal, 'finished'>, onResult: () => void): Promise<void>
}

/** Longer than the longest trial of a release: an upgrader that is still silent then has died. */
const longestUpgrade = 45 * 60_000

/** Container engines leave one of these in each container. */
const isInContainer = (): boolean => ['/.dockerenv', '/run/.containerenv'].some(file => fs.existsSync(file))

/** The agent's part of an upgrade: it hands the order to the upgrader, and reports the outcome after the restart. */
export const createUpgrades = (needs: {
  options: Options
  identity: Pick<Identity, 'unsigned'>
  policy: { agentUpgrades(): boolean }
  now: () => number
  log: Log
}): Upgrades => {
  const { options, identity, policy, now, log } = needs
  const init = findInitSystem(join(options.root, 'stockade-agent'), options.units)
  const installation = createInstallation(options.root, init?.units ?? [])
  const started = process.argv[1] ?? ''

  const whyNot = (): string | null => {
    if (init === null && isInContainer()) return 'this agent runs in a container: start it from a newer image'
    if (init === null) return 'no init system is here that could start the new agent'
    if (!isInstalled(started, options.root)) return 'the installer did not put this agent here'
    if (init.units.some(({ path }) => !fs.existsSync(path)))
      return 'the installed agent is too old for upgrades from the server: run the install command with --upgrade once'
    if (!policy.agentUpgrades()) return 'policy.json on this host refuses upgrades from the server'
    return fs.existsSync(releaseKeysFile(options.config)) || identity.unsigned ? null : noKey
  }

  return {
    report() {
      const reason = whyNot()
      return {
        able: reason === null,
        reason,
        release: installation.current(),
        previous: installation.previous(),
      }
    },
    async handler({ version, manifest_sha256: manifest, program_sha256: program, rollback }, id) {
      const reason = whyNot()
      if (reason !== null || init === null) throw new Refused(reason ?? '')
      const other = readOrder(options.state)
      if (other !== null) throw new Refused('another upgrade of this agent is under way')
      writeOrder(options.state, {
        id,
        version,
        manifest: manifest ?? null,
        program: program ?? null,
        isReturn: rollback === true,
        orderedAt: now(),
        switching: null,
      })
      try {
        await init.startUpgrader()
      } catch (error) {
        writeOutcome(options.state, { id, success: false, text: errorText(error) })
      }
      throw new Deferred()
    },
    isUnderWay: id => readOrder(options.state)?.id === id || readOutcome(options.state)?.id === id,
    async settle(journal, onResult) {
      const order = readOrder(options.state)
      const outcome = readOutcome(options.state)
      if (outcome === null) {
        if (order !== null && Math.abs(now() - order.orderedAt) > longestUpgrade)
          writeOutcome(options.state, { id: order.id, success: false, text: 'the upgrader stopped without a word' })
        return
      }
      await journal.finished(outcome.id, {
        success: outcome.success,
        output: outcome.text,
        exit_code: outcome.success ? 0 : 1,
      })
      forgetOutcome(options.state)
      log.info(`upgrade: ${outcome.text}`)
      onResult()
    },
  }
}

/** The wrapper starts the program through the link `current`. */
const isInstalled = (program: string, root: string): boolean =>
  readOr(false, () => fs.realpathSync(dirname(program)).startsWith(`${fs.realpathSync(join(root, 'releases'))}/`))
