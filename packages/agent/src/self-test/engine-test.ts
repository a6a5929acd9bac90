import * as fs from 'node:fs'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import type { Engine } from '../engine/engine.ts'
import type { JailLoader } from '../engine/jail-loader.ts'
import { fileMark, testJail } from '../engine/own-files.ts'
import type { OwnFile } from '../engine/own-files.ts'
import type { Probe } from './probe.ts'
import { placesThrough } from './steps.ts'
import type { Control, Family, Steps } from './steps.ts'

/** What the part before found for a family: the address to ban, and where its packets are answered; null: nowhere. */
interface Tried {
  readonly family: Family
  readonly source: string
  readonly control: Control | null
}

/**
 * The part of a self-test that fail2ban does: it reads a line, bans its address with the action of this host, and lifts the ban. The jail
 * is built over the socket and is in no configuration file, so that neither a reload nor a restart of fail2ban starts it.
 */
export type EngineTest = (steps: Steps, tried: readonly Tried[]) => Promise<void>

/** fail2ban's polling backend looks once a second. */
const banWithin = 15_000
const lookEvery = 100
/** fail2ban calls an address banned a moment before its action has run. */
const actionWithin = 3000

export const createEngineTest = (needs: {
  f2bConfig: string
  stateDirectory: string
  engine: Pick<Engine, 'apply' | 'actions' | 'actionOption' | 'dissolve' | 'isBanned' | 'unban'>
  loader: Pick<JailLoader, 'stage'>
  probe: Probe
  now: () => number
  steadyNow: () => number
}): EngineTest => {
  const { engine, probe } = needs
  const log = join(needs.stateDirectory, 'self-test.log')

  const buildJail = async (nonce: string): Promise<string> => {
    await engine.dissolve(testJail)
    fs.writeFileSync(log, '', { mode: 0o600 })
    const { stream } = await needs.loader.stage(testJail, jailFiles(needs.f2bConfig, log, nonce))
    await engine.apply(stream)
    const actions = await engine.actions(testJail)
    return actions.join(', ')
  }

  const waitForBan = async (source: string, since: number): Promise<number> => {
    for (;;) {
      if (await engine.isBanned(testJail, source)) return needs.steadyNow() - since
      if (needs.steadyNow() - since > banWithin)
        throw new Error(`fail2ban did not ban ${source} within ${banWithin / 1000} s after a line of it in a log`)
      await new Promise(resolve => setTimeout(resolve, lookEvery))
    }
  }

  /** A rule that rejects with a reset looks like a closed port. */
  const rejectsByReset = async (): Promise<boolean> => {
    for (const action of await engine.actions(testJail))
      if (/tcp-reset|tcp reset/.test((await engine.actionOption(testJail, action, 'blocktype')) ?? '')) return true
    return false
  }

  const testFamily = async ({ step }: Steps, nonce: string, { family, source, control }: Tried): Promise<void> => {
    const isBanned = await step('engine-ban', family, async () => {
      const since = needs.steadyNow()
      fs.appendFileSync(log, `${(needs.now() / 1000).toFixed(3)} stockade self-test ${nonce} from ${source}\n`)
      const ms = Math.round(await waitForBan(source, since))
      return { ok: true, text: `fail2ban read a line of ${source} in a log and banned it after ${ms} ms`, value: true }
    })
    if (isBanned === null) return
    const isOpen = control !== null && !(control.answers.every(answer => answer === 'rst') && (await rejectsByReset()))
    if (isOpen)
      await step('engine-drop', family, async () => {
        const since = needs.steadyNow()
        let through = placesThrough(control, await probe(source, control.targets))
        while (through.length > 0 && needs.steadyNow() - since < actionWithin)
          through = placesThrough(control, await probe(source, control.targets))
        const text =
          through.length === 0
            ? 'packets of the address that fail2ban banned do not get through'
            : `fail2ban says that ${source} is banned, but ${through.join(', ')} still answers its packets`
        return { ok: through.length === 0, text, value: true }
      })
    await step('engine-lift', family, async () => {
      await engine.unban(testJail, source)
      if (!isOpen)
        return { ok: true, text: 'fail2ban lifted the ban; no packet could tell whether it held', value: true }
      const given = await probe(source, control.targets)
      const ok = given.every((answer, index) => answer === control.answers[index])
      const text = ok
        ? 'after fail2ban lifted the ban, packets are answered again'
        : 'after fail2ban lifted the ban, packets are not answered'
      return { ok, text, value: true }
    })
  }

  return async (steps, tried) => {
    const [first] = tried
    if (!first) return
    const nonce = randomBytes(8).toString('hex')
    // Bans of jails stop what is for the host itself; published ports are the business of the shield.
    const own = tried.map(each => ({ ...each, control: each.control && withoutForwarded(each.control) }))
    try {
      const isBuilt = await steps.step('engine-jail', first.family, async () => {
        const actions = await buildJail(nonce)
        return { ok: true, text: `fail2ban runs a jail for the test, with the action ${actions}`, value: true }
      })
      if (isBuilt) for (const each of own) await testFamily(steps, nonce, each)
    } finally {
      await engine.dissolve(testJail).catch(() => undefined)
      fs.rmSync(log, { force: true })
    }
  }
}

const withoutForwarded = ({ targets, answers }: Control): Control | null => {
  const isOwn = targets.map(({ leadsTo }) => leadsTo === undefined)
  if (!isOwn.includes(true)) return null
  return { targets: targets.filter((_, index) => isOwn[index]), answers: answers.filter((_, index) => isOwn[index]) }
}

/** `action_` is the host's firewall action alone, without the mails and reports that its jails may have besides. */
const jailFiles = (config: string, log: string, nonce: string): OwnFile[] => [
  {
    path: join(config, 'filter.d', `${testJail}.conf`),
    text: `${fileMark}
[Definition]
failregex = ^\\s*stockade self-test ${nonce} from <HOST>$
ignoreregex =
datepattern = {^LN-BEG}EPOCH
`,
  },
  {
    path: join(config, 'jail.d', `zz-stockade-90-${testJail}.local`),
    text: `${fileMark}
[${testJail}]
enabled = true
filter = ${testJail}
backend = polling
logpath = ${log}
port = 0:65535
protocol = tcp
usedns = no
ignoreip =
ignorecommand =
maxretry = 1
findtime = 600
bantime = 60
bantime.increment = false
action = %(action_)s
`,
  },
]
