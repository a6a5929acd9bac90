import * as fs from 'node:fs'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import type { EngineConfig } from '../engine/config.ts'
import type { Engine } from '../engine/engine.ts'
import type { JailLoader } from '../engine/jail-loader.ts'
import { fileMark, ownJail, testJail } from '../engine/own-files.ts'
import type { OwnFile } from '../engine/own-files.ts'
import { hasShare } from '../engine/places.ts'
import type { Places } from '../engine/places.ts'
import { ownNetworkText } from '../engine/whereabouts.ts'
import type { Whereabouts } from '../engine/whereabouts.ts'
import { noShare } from '../python/inside.ts'
import { createJailFirewalls } from '../protection/firewall/jail-firewalls.ts'
import type { PacketProof } from '../protection/firewall/packet-proof.ts'
import { createHeldBans } from './held-bans.ts'
import type { Probe } from './probe.ts'
import { isAnsweredAgain, placesThrough } from './steps.ts'
import type { Control, Family, Steps } from './steps.ts'

/** What the part before found for a family: the address to ban, and where its packets are answered; null: nowhere. */
interface Tried {
  readonly family: Family
  readonly source: string
  readonly control: Control | null
}

/** A firewall action that jails of this host use. */
interface UsedAction {
  /** As their `banaction` says it. */
  readonly banaction: string
  readonly jails: readonly string[]
}

/**
 * The part of a self-test that fail2ban does: it reads a line, bans its address with each firewall action that the host's jails use, and
 * lifts the ban. The jail is built over the socket and is in no configuration file, so that neither a reload nor a restart of fail2ban
 * starts it.
 */
export type EngineTest = (steps: Steps, tried: readonly Tried[]) => Promise<void>

/** fail2ban's polling backend looks once a second, on a busy host later. */
const banWithin = 30_000
const lookEvery = 100
/** A container may share the folder of the log: what takes its place is not followed. */
const appendOnly = fs.constants.O_WRONLY | fs.constants.O_APPEND | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK
/** fail2ban calls an address banned a moment before its action has run. */
const actionWithin = 3000
/** Each action takes two to five seconds. */
const maxActions = 4

export const createEngineTest = (needs: {
  stateDirectory: string
  places: Places
  whereabouts: Pick<Whereabouts, 'hasOwnNetwork'>
  config: Pick<EngineConfig, 'directory' | 'jails'>
  engine: Pick<Engine, 'apply' | 'actions' | 'actionOption' | 'banned' | 'dissolve' | 'isBanned' | 'jails' | 'unban'>
  /** Nothing was tried by it before. */
  createPackets: () => PacketProof
  loader: Pick<JailLoader, 'stage'>
  probe: Probe
  now: () => number
  steadyNow: () => number
}): EngineTest => {
  const { engine, probe } = needs
  const log = join(needs.places.share?.outside ?? needs.stateDirectory, 'self-test.log')
  const tryHeldBans = createHeldBans(needs)

  /** The actions of the running jails, those of most jails first. */
  const usedActions = async (): Promise<UsedAction[]> => {
    const running = new Set(await engine.jails())
    const jailsByAction = new Map<string, string[]>()
    for (const { name, banaction } of await needs.config.jails())
      if (running.has(name) && name !== ownJail && /^[^\n]+$/.test(banaction))
        jailsByAction.set(banaction, [...(jailsByAction.get(banaction) ?? []), name])
    const actions = [...jailsByAction].map(([banaction, jails]) => ({ banaction, jails }))
    return actions.sort((a, b) => b.jails.length - a.jails.length)
  }

  const buildJail = async (nonce: string, action: UsedAction | null): Promise<string> => {
    await engine.dissolve(testJail)
    const logInside = needs.places.inside(log)
    if (logInside === null || !hasShare(needs.places)) throw new Error(noShare)
    fs.rmSync(log, { force: true })
    fs.writeFileSync(log, '', { mode: 0o600, flag: 'wx' })
    const files = jailFiles(needs.config.directory, logInside, nonce, action?.banaction ?? null)
    const { stream } = await needs.loader.stage(testJail, files)
    await engine.apply(stream)
    const actions = (await engine.actions(testJail)).join(', ')
    return action === null ? actions : `${actions} (of ${jailsText(action.jails)})`
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

  /** Why a test packet cannot tell whether the jail's action stops its sender; null if it can. */
  const whyUntried = async (family: Family): Promise<string | null> => {
    if (needs.whereabouts.hasOwnNetwork()) return ownNetworkText
    for (const { action, firewall, closed } of await createJailFirewalls(engine).of(
      testJail,
      family === 6 ? 'ipv6' : 'ipv4',
    )) {
      if (firewall.kind === 'route') return `the action ${action} lets packets in and sends no answers`
      if (firewall.kind === 'hosts.deny')
        return `the action ${action} stops programs that read hosts.deny, and no packets`
      if (closed.isOfDevice || closed.hook === 'forward')
        return `the action ${action} does not look at packets of the test device for this host itself`
    }
    return null
  }

  const tryPackets = async ({ step }: Steps, family: Family, source: string, control: Control): Promise<void> => {
    await step('engine-drop', family, async () => {
      const reason = await whyUntried(family)
      if (reason !== null) return { ok: null, text: `not tried: ${reason}`, value: true }
      const since = needs.steadyNow()
      let through = placesThrough(control, await probe(source, control.targets))
      while (through.length > 0 && needs.steadyNow() - since < actionWithin)
        through = placesThrough(control, await probe(source, control.targets))
      const actions = (await engine.actions(testJail)).join(', ')
      const text =
        through.length === 0
          ? `packets of the address that fail2ban banned by ${actions} do not get through`
          : `fail2ban says that ${source} is banned by ${actions}, but ${through.join(', ')} still answers its packets`
      return { ok: through.length === 0, text, value: true }
    })
  }

  /** Answers whether fail2ban banned at all; otherwise its other actions need no trial. */
  const testFamily = async (steps: Steps, nonce: string, { family, source, control }: Tried): Promise<boolean> => {
    const { step } = steps
    const isBanned = await step('engine-ban', family, async () => {
      const since = needs.steadyNow()
      const line = `${(needs.now() / 1000).toFixed(3)} stockade self-test ${nonce} from ${source}\n`
      appendTo(log, line)
      const ms = Math.round(await waitForBan(source, since))
      return { ok: true, text: `fail2ban read a line of ${source} in a log and banned it after ${ms} ms`, value: true }
    })
    if (isBanned === null) return false
    const isOpen = control !== null && !(control.answers.every(answer => answer === 'rst') && (await rejectsByReset()))
    if (isOpen) await tryPackets(steps, family, source, control)
    await step('engine-lift', family, async () => {
      await engine.unban(testJail, source)
      if (!isOpen)
        return { ok: true, text: 'fail2ban lifted the ban; no packet could tell whether it held', value: true }
      const ok = await isAnsweredAgain(control, source, needs)
      const text = ok
        ? 'after fail2ban lifted the ban, packets are answered again'
        : 'after fail2ban lifted the ban, packets are not answered'
      return { ok, text, value: true }
    })
    return true
  }

  /** Answers whether the test should go on with the next action. */
  const testAction = async (steps: Steps, action: UsedAction | null, tried: readonly [Tried, ...Tried[]]) => {
    const nonce = randomBytes(8).toString('hex')
    const isBuilt = await steps.step('engine-jail', tried[0].family, async () => {
      const name = await buildJail(nonce, action)
      return { ok: true, text: `fail2ban runs a jail for the test, with the action ${name}`, value: true }
    })
    // A jail that cannot be built may be the fault of its action alone.
    if (isBuilt === null) return true
    for (const each of tried) if (!(await testFamily(steps, nonce, each))) return false
    return true
  }

  return async (steps, [first, ...others]) => {
    if (!first) return
    await tryHeldBans(steps, new Map([first, ...others].map(({ family, source }) => [family, source])))
    // Bans of jails stop what is for the host itself; published ports are the business of the shield.
    const own = (each: Tried): Tried => ({ ...each, control: each.control && withoutForwarded(each.control) })
    const tried = [own(first), ...others.map(own)] as const
    try {
      const used = await usedActions()
      for (const action of used.length === 0 ? [null] : used.slice(0, maxActions))
        if (!(await testAction(steps, action, tried))) break
    } finally {
      await engine.dissolve(testJail).catch(() => undefined)
      fs.rmSync(log, { force: true })
    }
  }
}

const appendTo = (path: string, line: string): void => {
  const file = fs.openSync(path, appendOnly)
  try {
    fs.writeSync(file, line)
  } finally {
    fs.closeSync(file)
  }
}

const jailsText = ([first = '', ...others]: readonly string[]): string =>
  others.length === 0 ? `jail ${first}` : `jail ${first} and ${others.length} more`

const withoutForwarded = ({ targets, answers }: Control): Control | null => {
  const isOwn = targets.map(({ leadsTo }) => leadsTo === undefined)
  if (!isOwn.includes(true)) return null
  return { targets: targets.filter((_, index) => isOwn[index]), answers: answers.filter((_, index) => isOwn[index]) }
}

/**
 * `action_` is the firewall action alone, without the mails and reports that jails may have besides. `banaction` is what it runs; null: what
 * the host's configuration says for all jails.
 */
const jailFiles = (config: string, log: string, nonce: string, banaction: string | null): OwnFile[] => [
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
${banaction === null ? '' : `banaction = ${banaction.replaceAll('%', '%%')}\n`}action = %(action_)s
`,
  },
]
