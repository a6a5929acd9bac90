import type { Engine } from '../engine/engine.ts'
import { ownJail } from '../engine/own-files.ts'
import { runProgram } from '../process.ts'
import { createJailFirewalls } from '../protection/firewall/jail-firewalls.ts'
import type { Firewall, JailFirewall } from '../protection/firewall/kinds.ts'
import type { PacketProof, Provable, Shown } from '../protection/firewall/packet-proof.ts'
import type { Family, Steps } from './steps.ts'

/** Jails that are tried, and bans of each. */
const maxJails = 30
const maxHeld = 5
const timeout = 20_000

/** What is tried of one jail. */
interface Held {
  readonly jail: string
  readonly family: Family
  readonly firewalls: readonly JailFirewall[]
  readonly ips: readonly string[]
}

/** Commands about an address at the place where a firewall holds its bans. `has` fails where it is not. */
interface Placing {
  readonly add: string[]
  readonly has: string[]
  readonly remove: string[]
}

/** Null: a new ban makes a rule of its own. */
const placing = (firewall: Firewall, ip: string): Placing | null => {
  if (firewall.kind === 'nftables') {
    const { program, family, table, set } = firewall
    const element = (verb: string): string[] => [...program, verb, 'element', family, table, set, `{ ${ip} }`]
    return { add: element('add'), has: element('get'), remove: element('delete') }
  }
  if (firewall.kind === 'ipset') {
    const { program, set } = firewall
    return {
      add: [...program, 'add', set, ip],
      has: [...program, 'test', set, ip],
      remove: [...program, 'del', set, ip],
    }
  }
  if (firewall.kind !== 'iptables' || /^[A-Z]+$/.test(firewall.chain)) return null
  const { program, chain } = firewall
  const rule = ['-s', ip, '-j', 'DROP']
  return {
    add: [...program, '-I', chain, '1', ...rule],
    has: [...program, '-C', chain, ...rule],
    remove: [...program, '-D', chain, ...rule],
  }
}

/** Each jail has an address of its own, since what one jail stops says nothing of another. */
const nextSource = (base: string, index: number): string =>
  base.includes(':')
    ? base.replace(/[0-9a-f]+$/, last => (((parseInt(last, 16) + index) % 65_535) + 1).toString(16))
    : base.replace(/\d+$/, last => String(64 + ((Number(last) + 1 + index) % 64)))

const succeeds = async (command: readonly string[]): Promise<boolean> =>
  (await runProgram(command, { timeout })).code === 0

/**
 * Tries the jails that exist: packets of what they ban now, and of a jail without bans packets of the test's address, put where that jail
 * holds its bans. The jail that the test builds has rules of its own, which may stand before what lets attackers in.
 */
export const createHeldBans = (needs: {
  engine: Pick<Engine, 'actions' | 'actionOption' | 'banned' | 'jails'>
  /** Nothing was tried by it before. */
  createPackets: () => PacketProof
}): ((steps: Steps, sources: ReadonlyMap<Family, string>) => Promise<void>) => {
  const { engine } = needs

  const jailsToTry = async (): Promise<Held[]> => {
    const firewalls = createJailFirewalls(engine)
    const banned = await engine.banned()
    const size = (jail: string): number => banned.get(jail)?.size ?? 0
    const jails = (await engine.jails()).filter(jail => jail !== ownJail).toSorted((a, b) => size(b) - size(a))
    const heldBans: Held[] = []
    for (const jail of jails.slice(0, maxJails))
      for (const family of [4, 6] as const) {
        const ips = [...(banned.get(jail) ?? [])].filter(ip => !ip.includes('/') && ip.includes(':') === (family === 6))
        const ofJail = (await firewalls.of(jail, family === 6 ? 'ipv6' : 'ipv4')).filter(
          ({ firewall: { kind } }) => kind !== 'route' && kind !== 'hosts.deny',
        )
        if (ofJail.length > 0) heldBans.push({ jail, family, firewalls: ofJail, ips: ips.slice(-maxHeld) })
      }
    return heldBans
  }

  const provableOf = ({ jail, firewalls }: Held, ips: readonly string[]): Provable => ({
    ...{ jail, ips, doubted: [], isPassed: false, isUnread: false },
    closed: firewalls.map(({ closed }) => closed),
  })

  /** False where the jail has no rules yet: its first ban makes them, in front. */
  const place = async ({ firewalls }: Held, source: string, placed: Placing[]): Promise<boolean> => {
    for (const { firewall } of firewalls) {
      const commands = placing(firewall, source)
      if (commands === null || !(await succeeds(commands.add))) continue
      placed.push(commands)
      if (await succeeds(commands.has)) return true
    }
    return false
  }

  return async ({ step }, sources) => {
    const tried: { held: Held; ips: readonly string[] }[] = []
    const placed: Placing[] = []
    let lastResults: readonly Shown[] = []
    try {
      for (const [index, held] of (await jailsToTry()).entries()) {
        const base = sources.get(held.family)
        const source = base === undefined ? null : nextSource(base, index)
        if (held.ips.length > 0) tried.push({ held, ips: held.ips })
        else if (source !== null && (await place(held, source, placed))) tried.push({ held, ips: [source] })
      }
      lastResults = await needs.createPackets().look(tried.map(({ held, ips }) => provableOf(held, ips)))
    } finally {
      for (const { remove } of placed) await succeeds(remove)
    }
    for (const [index, { held }] of tried.entries()) {
      const result = resultOf(held, lastResults[index] ?? { through: new Map(), stopped: new Set(), whyNot: null })
      await step('engine-drop', held.family, () => Promise.resolve({ ...result, value: true }))
    }
  }
}

const resultOf = ({ jail, ips }: Held, { through, stopped, whyNot }: Shown): { ok: boolean | null; text: string } => {
  const is = ips.length === 0 ? `was put where jail ${jail} bans` : `is banned in jail ${jail}`
  const [open] = through
  const [ip] = stopped
  if (open) return { ok: false, text: `${open[0]} ${is}, but ${open[1]} still answers its packets` }
  if (ip !== undefined) return { ok: true, text: `packets of ${ip}, which ${is}, do not get through` }
  return { ok: null, text: `bans of jail ${jail} were not tried: ${whyNot ?? 'no answer tells anything'}` }
}
