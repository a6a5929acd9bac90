import { randomInt } from 'node:crypto'
import type { Engine } from '../../engine/engine.ts'
import { canonicalIp, overlaps } from '../../ip.ts'
import type { Answer, ProbeAll, TestPacket } from '../../self-test/probe.ts'
import { errorText } from '../../text.ts'
import type { Closed } from './closed.ts'
import { targetsOf } from './targets.ts'
import type { Doors, ProofTarget, Published } from './targets.ts'

/** The bans of a jail of one family. */
export interface Provable {
  readonly jail: string
  readonly ips: readonly string[]
  /** What its firewall actions close. */
  readonly closed: readonly Closed[]
  /** Bans to try at once: the rules of the firewall speak against them. */
  readonly doubted: readonly string[]
  /** Whether a rule in front of its own may let bans in. */
  readonly isPassed: boolean
  /** Whether the agent cannot see a change of its firewall, so that only packets can tell. */
  readonly isUnread: boolean
}

/** What packets showed. */
export interface Shown {
  /** Bans whose packets are still answered, and where. */
  readonly through: ReadonlyMap<string, string>
  /** Bans whose packets got no answer. */
  readonly stopped: ReadonlySet<string>
  /** Why there is no answer to go by; null if there is. */
  readonly whyNot: string | null
}

/** Tries with packets whether bans hold, whatever the firewall is. */
export interface PacketProof {
  /** Tries what is due, all at once. Answers what is known of each. */
  look(provables: readonly Provable[]): Promise<readonly Shown[]>
  /** Whether a packet of this ban got no answer, and the rules are still the same. */
  isStopped(jail: string, ip: string): boolean
  /** The firewall was built anew: all that was shown is tried again. */
  forget(): void
}

/** A trial starts a program. Each ban of a server with up to 800 of them has its turn within ten minutes. Milliseconds. */
const turnEvery = 300_000
const turns = 2
/** Where the agent cannot see that a firewall changed, it tries a few bans so often. */
const unreadEvery = 20_000
const fewest = 3
const mostSources = 400
const mostDoubted = 20
/** A ban that does not hold is tried again, to see that it is mended: after a change of the rules at once, else so often. */
const mendedEvery = 15_000
const mendedUnreadEvery = 8000
const maxTried = 10_000
/** A host without a test device has none for a while. */
const noDeviceFor = 600_000
const failedFor = 30_000

interface Trial {
  readonly at: number
  /** Which rules it met. */
  readonly epoch: number
  /** Where its packet was answered; null: nowhere; undefined: that could not be seen. */
  readonly through: string | null | undefined
}

/** What the answers to a packet of an address that nobody bans, and to one of the banned address, say; null: nothing. */
export const isStopped = (control: Answer, banned: Answer, rejectsByReset: boolean): boolean | null => {
  if ((control !== 'syn-ack' && control !== 'rst') || banned === 'routed') return null
  // A closed port and a rule that rejects with a reset look the same.
  return control === 'rst' && banned === 'rst' && rejectsByReset ? null : banned !== control
}

/** The answers at one target. */
interface Answered {
  readonly target: ProofTarget
  readonly control: Answer
  readonly banned: Answer
}

/**
 * Where the packets of a banned address get through; null: nowhere that could be tried; undefined: no answer says anything. Bans of
 * forwarded ports alone are meant for containers.
 */
export const throughOf = (answers: readonly Answered[], closed: readonly Closed[]): ProofTarget | null | undefined => {
  const byReset = closed.some(each => each.byReset)
  const judged = answers.map(({ target, control, banned }) => ({
    target,
    stopped: isStopped(control, banned, byReset),
  }))
  const isOnly = (kind: ProofTarget['kind'], stopped: boolean): boolean => {
    const of = judged.filter(each => each.target.kind === kind && each.stopped !== null)
    return of.length > 0 && of.every(each => each.stopped === stopped)
  }
  if (isOnly('forwarded', true) && isOnly('own', false) && closed.every(({ hook }) => hook !== 'input')) return null
  const open = judged.find(({ stopped }) => stopped === false)
  if (open) return open.target
  return judged.some(({ stopped }) => stopped === true) ? null : undefined
}

/** What is sent for one jail. */
interface Plan {
  readonly provable: Provable
  readonly ips: readonly string[]
  readonly targets: readonly ProofTarget[]
  readonly controls: readonly string[]
}

export interface ProofNeeds {
  engine: Pick<Engine, 'banned'>
  probeAll: ProbeAll
  /** The host's own addresses, without loopback and link-local. */
  addresses: () => readonly string[]
  listeners: () => Doors['listeners']
  published: () => Promise<readonly Published[]>
  /** Whether rules redirect packets to other ports of this server. */
  redirects: () => Promise<boolean>
  /** Another value whenever rules of the firewall changed, bans left out; null: the agent cannot tell. */
  rules: () => Promise<string | null>
  /** Whether the shield drops the address too, so that its packets say nothing about a jail. */
  isShielded: (ip: string) => boolean
  /** Why the host lets nobody send test packets; null if it does. */
  whyNot: () => string | null
  steadyNow: () => number
  /** Multiplies the intervals. */
  pace: number
}

export const createPacketProof = (needs: ProofNeeds): PacketProof => {
  const tried = new Map<string, Trial>()
  const lastTurns = new Map<string, number>()
  /** What is still to try since the rules changed. */
  let waiting = new Set<string>()
  let rulesSeen: string | null = null
  let epoch = 0
  let turn = 0
  let broken: { readonly until: number; readonly why: string } | null = null

  const keyOf = ({ jail }: Provable, ip: string): string => `${jail}|${ip}`
  const turnKeyOf = ({ jail, ips }: Provable): string => `${jail}|${ips[0]?.includes(':') ? 6 : 4}`
  const candidatesOf = (provable: Provable): string[] =>
    provable.ips.filter(ip => !ip.includes('/') && canonicalIp(ip) !== null && !needs.isShielded(ip))

  /** What is due of one jail: the addresses, the most urgent first. */
  const dueOf = (provable: Provable): string[] => {
    const now = needs.steadyNow()
    const candidates = candidatesOf(provable)
    if (candidates.length === 0) return []
    const isUnread = provable.isUnread || (rulesSeen === null && provable.isPassed)
    const trialOf = (ip: string): Trial | undefined => tried.get(keyOf(provable, ip))
    const isStale = (ip: string, after: number): boolean => {
      const trial = trialOf(ip)
      return trial?.epoch !== epoch || now - trial.at >= after * needs.pace
    }
    const doubted = new Set(provable.doubted)
    const mended = isUnread ? mendedUnreadEvery : mendedEvery
    const isOpen = (ip: string): boolean => typeof trialOf(ip)?.through === 'string'
    const urgent = candidates.filter(
      ip => (doubted.has(ip) && isStale(ip, unreadEvery)) || (isOpen(ip) && isStale(ip, mended)),
    )
    const swept = candidates.filter(ip => waiting.has(keyOf(provable, ip)))
    const last = lastTurns.get(turnKeyOf(provable))
    const isDue = last === undefined || now - last >= (isUnread ? unreadEvery : turnEvery) * needs.pace
    const count = isUnread ? fewest : Math.max(fewest, Math.ceil(candidates.length / turns))
    const age = (ip: string): number => trialOf(ip)?.at ?? -Infinity
    const inTurn = isDue ? candidates.toSorted((a, b) => age(a) - age(b)).slice(0, count) : []
    if (isDue) lastTurns.set(turnKeyOf(provable), now)
    return [...new Set([...urgent.slice(0, mostDoubted), ...swept, ...inTurn])]
  }

  /** Addresses for documentation that no jail bans, of which some firewalls drop some. */
  const controlSources = async (isIPv6: boolean): Promise<string[]> => {
    const bans = [...(await needs.engine.banned()).values()].flatMap(ips => [...ips])
    const ranges = bans.flatMap(ip => (ip.includes('/') ? (canonicalIp(ip) ?? []) : []))
    const single = new Set(bans)
    const isFree = (ip: string): boolean => !single.has(ip) && !ranges.some(range => overlaps(range, ip))
    const places = isIPv6 ? ['2001:db8:ffff::', '2001:db8:fffe::'] : ['192.0.2.', '198.51.100.', '203.0.113.']
    return places.flatMap(place => {
      for (let attempt = 0; attempt < 10; attempt += 1) {
        const source = isIPv6 ? `${place}${randomInt(1, 65_535).toString(16)}` : `${place}${randomInt(64, 255)}`
        if (isFree(source)) return source
      }
      return []
    })
  }

  const plan = async (provables: readonly Provable[]): Promise<Plan[]> => {
    let left = mostSources
    const due = provables.flatMap(provable => {
      const ips = dueOf(provable).slice(0, left)
      left -= ips.length
      return ips.length === 0 ? [] : [{ provable, ips }]
    })
    if (due.length === 0) return []
    turn += 1
    const doors = { addresses: needs.addresses(), listeners: needs.listeners(), published: await needs.published() }
    const plans: Plan[] = []
    for (const { provable, ips } of due) {
      const isIPv6 = ips[0]?.includes(':') === true
      const targets = targetsOf(provable.closed, isIPv6, doors, turn)
      for (const ip of ips) waiting.delete(keyOf(provable, ip))
      if (targets.length > 0) plans.push({ provable, ips, targets, controls: await controlSources(isIPv6) })
    }
    return plans
  }

  /** Null where this server could send none. */
  const sent = async (packets: readonly TestPacket[]): Promise<readonly Answer[] | null> => {
    try {
      const answers = await needs.probeAll(packets, await needs.redirects())
      broken = null
      return answers
    } catch (error) {
      const text = errorText(error)
      const wait = text.startsWith('no test device') ? noDeviceFor : failedFor
      broken = { until: needs.steadyNow() + wait * needs.pace, why: `a test packet fails: ${text}` }
      return null
    }
  }

  const carryOut = async (plans: readonly Plan[]): Promise<void> => {
    const packets = plans.flatMap(({ ips, controls, targets }) =>
      // The answer to a control comes last, so a slow machine is not taken for a firewall.
      [...ips, ...controls].flatMap(source => targets.map((target): TestPacket => ({ source, target }))),
    )
    const answers = await sent(packets)
    if (answers === null) return
    let at = 0
    const take = (count: number): readonly Answer[] => answers.slice(at, (at += count))
    for (const { provable, ips, controls, targets } of plans) {
      const ofIps = ips.map(() => take(targets.length))
      const ofControls = controls.map(() => take(targets.length))
      const control = targets.map((_, of) => ofControls.map(each => each[of] ?? 'none').find(isOpenAnswer) ?? 'none')
      for (const [index, ip] of ips.entries()) {
        const banned = (of: number): Answer => ofIps[index]?.[of] ?? 'none'
        const answered = targets.map((target, of) => ({ target, control: control[of] ?? 'none', banned: banned(of) }))
        const through = throughOf(answered, provable.closed)
        tried.set(keyOf(provable, ip), { at: needs.steadyNow(), epoch, through: through && placeText(through) })
      }
    }
  }

  const noteRules = async (provables: readonly Provable[]): Promise<void> => {
    const rules = await needs.rules()
    if (rules === rulesSeen) return
    rulesSeen = rules
    epoch += 1
    waiting = new Set(provables.flatMap(provable => candidatesOf(provable).map(ip => keyOf(provable, ip))))
  }

  const whyNot = (): string | null => {
    if (needs.whyNot() !== null) return 'this server lets nobody send test packets'
    return broken !== null && needs.steadyNow() < broken.until ? broken.why : null
  }

  const shownOf = (provable: Provable, why: string | null): Shown => {
    const through = new Map<string, string>()
    const stopped = new Set<string>()
    for (const ip of provable.ips) {
      const trial = tried.get(keyOf(provable, ip))
      if (trial?.through === null && trial.epoch === epoch) stopped.add(ip)
      else if (typeof trial?.through === 'string') through.set(ip, trial.through)
    }
    const isSilent = through.size + stopped.size === 0
    return { through, stopped, whyNot: isSilent ? (why ?? 'no test packet of them tells anything') : null }
  }

  return {
    async look(provables) {
      if (whyNot() === null) {
        if (tried.size > maxTried) tried.clear()
        await noteRules(provables)
        const plans = await plan(provables)
        if (plans.length > 0) await carryOut(plans)
      }
      const why = whyNot()
      return provables.map(provable => shownOf(provable, why))
    },
    isStopped(jail, ip) {
      const trial = tried.get(`${jail}|${ip}`)
      return trial?.through === null && trial.epoch === epoch
    },
    forget() {
      rulesSeen = null
    },
  }
}

const isOpenAnswer = (answer: Answer): boolean => answer === 'syn-ack' || answer === 'rst'

const placeText = ({ address, port, leadsTo }: ProofTarget): string =>
  `${address.includes(':') ? `[${address}]` : address}:${port}${leadsTo === undefined ? '' : `, which is forwarded to ${leadsTo},`}`
