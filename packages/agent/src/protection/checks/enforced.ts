import { actionName } from '../../bans/hook.ts'
import { steadyNow } from '../../clock.ts'
import { sharedAge } from '../../engine/engine.ts'
import type { BannedPlaces, Engine } from '../../engine/engine.ts'
import { ownJail } from '../../engine/own-files.ts'
import { createRun, holds } from '../firewall/holds.ts'
import type { Held } from '../firewall/holds.ts'
import { firewallOf } from '../firewall/kinds.ts'
import type { Firewall } from '../firewall/kinds.ts'
import type { NftListings } from '../firewall/nft-listings.ts'
import type { PacketProof } from '../firewall/packet-proof.ts'
import type { Programs } from '../firewall/programs.ts'
import { bad, ok, severity, unknown, warning } from '../model.ts'
import type { Check, Finding } from '../model.ts'

/** More bans of a jail than this are judged by as many of them, chosen at random. */
const maxBans = 2000
/** The list of bans may be so old, in milliseconds: a ban that ended since is asked for again before it counts as lost. */
const listAge = 5000
/**
 * The answers of one jail are a dozen requests to fail2ban. Milliseconds; whatever is not well is asked again at once, and everything after a
 * reload.
 */
const firewallsKept = 120_000
/** A ban may have ended between two questions. */
const secondLookAfter = 200

interface JailFirewall {
  readonly action: string
  readonly firewall: Firewall
}

/** Whether the kernel holds what fail2ban calls banned: asked of the kernel jail by jail. */
export const enforcedCheck = (needs: {
  engine: Pick<Engine, 'jails' | 'banned' | 'actions' | 'actionOption'>
  programs: Programs
  packets: PacketProof
  nft: NftListings
}): Check => {
  const { engine } = needs
  /** The bans of the look before. The firewall actions of a newer ban may still be running. */
  let before: BannedPlaces = new Map()

  const kept = new Map<string, { readonly until: number; readonly found: readonly JailFirewall[] }>()

  /** `isFresh`: as the jail is now. A reload may have changed its actions since they were asked for. */
  const firewallsOf = async (
    jail: string,
    family: 'ipv4' | 'ipv6',
    isFresh = false,
  ): Promise<readonly JailFirewall[]> => {
    const key = `${jail}|${family}`
    const known = kept.get(key)
    if (!isFresh && known && steadyNow() < known.until) return known.found
    const found = await readFirewalls(jail, family)
    kept.set(key, { until: steadyNow() + firewallsKept, found })
    return found
  }

  const readFirewalls = async (jail: string, family: 'ipv4' | 'ipv6'): Promise<JailFirewall[]> => {
    const found: JailFirewall[] = []
    for (const action of await engine.actions(jail)) {
      const firewall = action === actionName ? null : await firewallOf(engine, jail, action, family)
      if (firewall) found.push({ action, firewall })
    }
    return found
  }

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
  const heldBy = async (jail: string, firewalls: readonly JailFirewall[], ips: readonly string[]): Promise<Held> => {
    const run = createRun(needs.nft)
    let absent = ips
    let why = 'no action of the jail uses a firewall that the agent knows'
    let unclear: Held | null = firewalls.length === 0 ? { state: 'unknown', why } : null
    for (const { action, firewall } of firewalls) {
      let held = await holds(run, firewall, ips)
      // Rules that cannot be read are tried out with a packet of one banned address.
      if (held.state === 'unknown') held = (await needs.packets.prove(jail, action, firewall, ips)) ?? held
      if (held.state === 'yes') return held
      if (held.state !== 'no') {
        unclear = held
        continue
      }
      why = held.why
      absent = absent.filter(ip => held.absent.includes(ip))
    }
    return unclear ?? (absent.length === 0 ? { state: 'yes' } : { state: 'no', why, absent })
  }

  const lookAtBans = async (jail: string, ips: readonly string[]): Promise<Finding> => {
    const family = ips.some(ip => ip.includes(':')) ? 'ipv6' : 'ipv4'
    let firewalls = await firewallsOf(jail, family)
    let held = await heldBy(jail, firewalls, ips)
    if (held.state !== 'yes') {
      const fresh = await firewallsOf(jail, family, true)
      if (JSON.stringify(fresh) !== JSON.stringify(firewalls)) held = await heldBy(jail, fresh, ips)
      firewalls = fresh
    }
    if (held.state === 'no') {
      await new Promise(resolve => setTimeout(resolve, secondLookAfter))
      const banned = (await engine.banned()).get(jail)
      const still = held.absent.filter(ip => banned?.has(ip))
      if (still.length === 0) return ok(jail)
      held = await heldBy(jail, firewalls, still)
    }
    switch (held.state) {
      case 'yes':
        return ok(jail)
      case 'no':
        return bad(jail, notEnforced(jail, held.why, held.absent))
      case 'partly':
        return warning(jail, `bans of jail ${jail} are enforced by ${held.why}`)
      case 'unknown':
        return unknown(jail, `bans of jail ${jail} cannot be verified: ${held.why}`)
    }
  }

  /** `isProbed`: there was a ban to look for. */
  const lookAtJail = async (jail: string, banned: ReadonlySet<string>): Promise<Finding & { isProbed: boolean }> => {
    let missing = await missingProgram(await firewallsOf(jail, 'ipv4'))
    if (missing !== null) missing = await missingProgram(await firewallsOf(jail, 'ipv4', true))
    if (missing !== null)
      return { ...bad(jail, `bans of jail ${jail} reach no firewall: ${missing} is not installed`), isProbed: false }
    const findings: Finding[] = []
    for (const isIPv6 of [false, true]) {
      const ips = sampleOf(banned, ip => ip.includes(':') === isIPv6 && before.get(jail)?.has(ip) === true)
      if (ips.length > 0) findings.push(await lookAtBans(jail, ips))
    }
    const [worst] = findings.sort((a, b) => severity[a.state] - severity[b.state])
    return worst ? { ...worst, isProbed: true } : { ...ok(jail), isProbed: false }
  }

  return {
    id: 'enforced',
    every: 15_000,
    badAfter: 0,
    looks: 2,
    needsEngine: true,
    async look() {
      const banned = await engine.banned(listAge)
      const findings: (Finding & { isProbed: boolean })[] = []
      const jails = await engine.jails(sharedAge)
      for (const jail of jails) {
        const ips = banned.get(jail) ?? new Set<string>()
        // The jail for bans by command matters once it is used.
        if (jail !== ownJail || ips.size > 0) findings.push(await lookAtJail(jail, ips))
      }
      before = banned
      for (const key of kept.keys()) if (!jails.includes(key.slice(0, key.lastIndexOf('|')))) kept.delete(key)
      // Where a ban is not enforced, jails without bans prove nothing.
      const isAnyLost = findings.some(({ state, isProbed }) => isProbed && state === 'bad')
      return isAnyLost ? findings.filter(({ state, isProbed }) => isProbed || state !== 'ok') : findings
    },
    forget: () => kept.clear(),
  }
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
