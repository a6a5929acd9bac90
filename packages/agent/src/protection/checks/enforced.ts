import { sharedAge } from '../../engine/engine.ts'
import type { BannedPlaces, Engine } from '../../engine/engine.ts'
import { ownJail } from '../../engine/own-files.ts'
import type { Passage } from '../firewall/front.ts'
import { holds } from '../firewall/holds.ts'
import type { Held, Run } from '../firewall/holds.ts'
import type { JailFirewalls } from '../firewall/jail-firewalls.ts'
import type { JailFirewall } from '../firewall/kinds.ts'
import type { PacketProof, Provable, Shown } from '../firewall/packet-proof.ts'
import { isWithin } from '../firewall/ports.ts'
import type { Listener } from '../firewall/ports.ts'
import type { Programs } from '../firewall/programs.ts'
import { bad, ok, severity, unknown, warning } from '../model.ts'
import type { Check, Finding } from '../model.ts'

/** More bans of a jail than this are judged by as many of them, chosen at random. */
const maxBans = 2000
/** The list of bans may be so old, in milliseconds: a ban that ended since is asked for again before it counts as lost. */
const listAge = 5000
/** A ban may have ended between two questions. */
const secondLookAfter = 200

/** The bans of a jail of one family, and what the rules say of them. */
interface Looked {
  readonly jail: string
  readonly ips: readonly string[]
  readonly firewalls: readonly JailFirewall[]
  readonly held: Held
}

/**
 * Whether what fail2ban calls banned gets through. The rules of the kernel say which bans they name, and packets of banned addresses say
 * whether that stops them: where both speak, the packet is right.
 */
export const enforcedCheck = (needs: {
  engine: Pick<Engine, 'jails' | 'banned'>
  firewalls: JailFirewalls
  programs: Programs
  packets: PacketProof
  /** Programs run once for all questions of one look. */
  run: () => Run
  listeners: () => readonly Listener[]
  /** The network cards by which the Internet is reached. */
  outerDevices: () => ReadonlySet<string>
  /** Whether the old interface of the kernel has rules, whose changes the agent does not see. */
  hasLegacyRules: () => boolean
}): Check => {
  const { engine, firewalls: ofJail } = needs
  /** The bans of the look before. The firewall actions of a newer ban may still be running. */
  let before: BannedPlaces = new Map()

  /** A firewall program that fail2ban does not find, if it finds none for this jail. */
  const missingProgram = async (firewalls: readonly JailFirewall[]): Promise<string | null> => {
    let missing: string | null = null
    for (const { firewall } of firewalls) {
      const program = 'program' in firewall ? (firewall.program?.[0] ?? null) : null
      if (program === null || (await needs.programs.isThere(program))) return null
      missing ??= program
    }
    return missing
  }

  /** An address counts as held when one of the firewalls holds it. */
  const heldBy = async (run: Run, firewalls: readonly JailFirewall[], ips: readonly string[]): Promise<Held> => {
    let absent = ips
    let why = 'no action of the jail uses a firewall that the agent knows'
    let unclear: Held | null = firewalls.length === 0 ? { state: 'unknown', why } : null
    for (const each of firewalls) {
      const addressesHeld = await holds(run, each, ips)
      if (addressesHeld.state === 'yes') return addressesHeld
      if (addressesHeld.state !== 'no') {
        unclear = addressesHeld
        continue
      }
      why = addressesHeld.why
      absent = absent.filter(ip => addressesHeld.absent.includes(ip))
    }
    return unclear ?? (absent.length === 0 ? { state: 'yes', place: null } : { state: 'no', why, absent })
  }

  const lookAtBans = async (run: Run, jail: string, ips: readonly string[]): Promise<Looked> => {
    const family = ips.some(ip => ip.includes(':')) ? 'ipv6' : 'ipv4'
    let firewalls = await ofJail.of(jail, family)
    let addressesHeld = await heldBy(run, firewalls, ips)
    if (addressesHeld.state !== 'yes') {
      const fresh = await ofJail.of(jail, family, true)
      if (JSON.stringify(fresh) !== JSON.stringify(firewalls)) addressesHeld = await heldBy(run, fresh, ips)
      firewalls = fresh
    }
    return { jail, ips, firewalls, held: addressesHeld }
  }

  /** The finding that needs no look at bans, or the bans to look at. */
  const lookAtJail = async (run: Run, jail: string, banned: ReadonlySet<string>): Promise<Finding | Looked[]> => {
    let missing = await missingProgram(await ofJail.of(jail, 'ipv4'))
    if (missing !== null) missing = await missingProgram(await ofJail.of(jail, 'ipv4', true))
    if (missing !== null) return bad(jail, `bans of jail ${jail} reach no firewall: ${missing} is not installed`)
    const looked: Looked[] = []
    for (const isIPv6 of [false, true]) {
      const ips = sampleOf(banned, ip => ip.includes(':') === isIPv6 && before.get(jail)?.has(ip) === true)
      if (ips.length > 0) looked.push(await lookAtBans(run, jail, ips))
    }
    return looked.length === 0 ? ok(jail) : looked
  }

  const provableOf = ({ jail, ips, firewalls, held }: Looked): Provable => ({
    jail,
    ips,
    // Routes let packets in, and programs obey hosts.deny, so a packet says nothing about these.
    closed: firewalls.flatMap(({ firewall: { kind }, closed }) =>
      kind === 'route' || kind === 'hosts.deny' ? [] : closed,
    ),
    doubted: held.state === 'no' ? held.absent : [],
    isPassed: held.state === 'yes' && (held.place?.front.length ?? 0) > 0,
    isUnread: held.state === 'unknown' && needs.hasLegacyRules(),
  })

  /** What does not hold, asked again: a ban may have ended meanwhile. */
  const withoutEnded = async (looked: Looked, shown: Shown): Promise<{ held: Held; shown: Shown }> => {
    const { jail, firewalls, held } = looked
    if (held.state !== 'no' && shown.through.size === 0) return { held, shown }
    await new Promise(resolve => setTimeout(resolve, secondLookAfter))
    const banned = (await engine.banned()).get(jail)
    const through = new Map([...shown.through].filter(([ip]) => banned?.has(ip)))
    if (held.state !== 'no') return { held, shown: { ...shown, through } }
    const still = held.absent.filter(ip => banned?.has(ip))
    const again: Held = still.length === 0 ? { state: 'yes', place: null } : await heldBy(needs.run(), firewalls, still)
    return { held: again, shown: { ...shown, through } }
  }

  /**
   * A rule in front that surely lets these bans in. Where packets were stopped, only one that they do not meet: it is limited to the network
   * card that attackers come by.
   */
  const passageOf = (held: Held, isStopped: boolean): Passage | undefined =>
    held.state === 'yes'
      ? held.place?.front.find(
          ({ device, isSure }) => isSure && (device === null ? !isStopped : needs.outerDevices().has(device)),
        )
      : undefined

  /** A port of this server that the jail means to close, though only forwarded packets come to its rule; null: there is none. */
  const missedPort = (held: Held, firewalls: readonly JailFirewall[]): number | null => {
    if (held.state !== 'yes' || held.place === null || held.place.isInput) return null
    const isMeant = (port: number): boolean =>
      firewalls.some(({ closed: { ports } }) => ports !== null && isWithin(ports, port))
    return needs.listeners().find(({ port }) => isMeant(port))?.port ?? null
  }

  const judge = async (looked: Looked, first: Shown): Promise<Finding> => {
    const { jail, firewalls } = looked
    const { held, shown } = await withoutEnded(looked, first)
    const lost = held.state === 'no' ? lostOf(held.absent, shown) : []
    if (held.state === 'no' && lost.length > 0) return bad(jail, notEnforced(jail, held.why, lost))
    if (shown.through.size > 0 && firewalls.length > 0 && held.state !== 'partly') {
      const [place = ''] = shown.through.values()
      const why = `${place} still answers its packets${frontText(held)}`
      return bad(jail, notEnforced(jail, why, [...shown.through.keys()]))
    }
    if (held.state === 'partly') return warning(jail, `bans of jail ${jail} are enforced by ${held.why}`)
    const passage = passageOf(held, shown.stopped.size > 0)
    if (passage) return bad(jail, notEnforced(jail, `the rule ${ruleText(passage)} in front lets it in`, looked.ips))
    if (shown.stopped.size > 0) return ok(jail)
    const port = missedPort(held, firewalls)
    if (port !== null)
      return bad(
        jail,
        notEnforced(
          jail,
          `its rule stops no packets for port ${port} of this server, but forwarded ones only`,
          looked.ips,
        ),
      )
    const doubt = doubtOf(held, shown, firewalls)
    return doubt === null ? ok(jail) : unknown(jail, `bans of jail ${jail} cannot be verified: ${doubt}`)
  }

  return {
    id: 'enforced',
    every: 15_000,
    badAfter: 0,
    looks: 2,
    needsEngine: true,
    async look() {
      const banned = await engine.banned(listAge)
      const calm: Finding[] = []
      const looked: Looked[] = []
      const run = needs.run()
      const jails = await engine.jails(sharedAge)
      for (const jail of jails) {
        const ips = banned.get(jail) ?? new Set<string>()
        // The jail for bans by command matters once it is used.
        if (jail === ownJail && ips.size === 0) continue
        const jailLook = await lookAtJail(run, jail, ips)
        if (Array.isArray(jailLook)) looked.push(...jailLook)
        else calm.push(jailLook)
      }
      const packetProofs = await needs.packets.look(looked.map(provableOf))
      const probed = new Map<string, Finding>()
      for (const [index, each] of looked.entries()) {
        const finding = await judge(each, packetProofs[index] ?? nothingShown)
        const other = probed.get(each.jail)
        if (!other || severity[finding.state] < severity[other.state]) probed.set(each.jail, finding)
      }
      before = banned
      ofJail.keep(jails)
      // Where a ban is not enforced, jails without bans prove nothing.
      const isAnyLost = [...probed.values()].some(({ state }) => state === 'bad')
      return [...calm.filter(({ state }) => !isAnyLost || state !== 'ok'), ...probed.values()]
    },
    forget() {
      ofJail.forget()
      needs.packets.forget()
    },
  }
}

const nothingShown: Shown = { through: new Map(), stopped: new Set(), whyNot: null }

/** Of the bans that no rule names those that are lost: where packets of some are stopped and of none get through, the rules were misread. */
const lostOf = (absent: readonly string[], { stopped, through }: Shown): readonly string[] =>
  absent.some(ip => stopped.has(ip)) && !absent.some(ip => through.has(ip)) ? [] : absent.filter(ip => !stopped.has(ip))

/** Why rules alone do not prove that these bans hold; null if they do. */
const doubtOf = (held: Held, shown: Shown, firewalls: readonly JailFirewall[]): string | null => {
  const whyNot = shown.whyNot === null ? '' : `, and ${shown.whyNot}`
  if (held.state === 'no') return null
  if (held.state !== 'yes') return firewalls.length === 0 ? held.why : `${held.why}${whyNot}`
  const { place } = held
  if (place === null) return null
  if (!place.isInput) return `only forwarded packets come to their rule${whyNot}`
  const [first] = place.front.filter(({ device }) => device === null)
  return first === undefined ? null : `the rule ${ruleText(first)} stands in front of theirs${whyNot}`
}

const ruleText = ({ rule }: Passage): string => `"${rule}"`

/** What may be the cause. */
const frontText = (held: Held): string => {
  const place = held.state === 'yes' ? held.place : null
  const [first] = place?.front ?? []
  if (place && !place.isInput) return ': only forwarded packets come to the rule of its ban'
  return first ? `: the rule ${ruleText(first)} stands in front` : ''
}

const notEnforced = (jail: string, why: string, absent: readonly string[]): string => {
  const [first = ''] = absent
  const more = absent.length > 1 ? ` (and ${absent.length - 1} more)` : ''
  return `bans of jail ${jail} are not enforced: ${first}${more} is banned, but ${why}`
}

/** At most `maxBans` of the addresses, each as likely as the others (reservoir sampling). */
const sampleOf = (ips: Iterable<string>, isMeant: (ip: string) => boolean): readonly string[] => {
  const chosen: string[] = []
  let count = 0
  for (const ip of ips) {
    if (!isMeant(ip)) continue
    count += 1
    if (chosen.length < maxBans) chosen.push(ip)
    else {
      const place = Math.floor(Math.random() * count)
      if (place < maxBans) chosen[place] = ip
    }
  }
  return chosen
}
