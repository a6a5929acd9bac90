import { randomInt } from 'node:crypto'
import { readText } from '../../files.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Answer, ProbeAll, Target } from '../../self-test/probe.ts'
import { errorText } from '../../text.ts'
import type { Held } from './holds.ts'
import type { Firewall } from './kinds.ts'

/** Tries with a packet whether a ban holds, where the rules of its firewall cannot be read. */
export interface PacketProof {
  /** `action` bans the addresses, which are of one family, by `firewall`. Tries one of them. Null: a packet cannot tell. */
  prove(jail: string, action: string, firewall: Firewall, ips: readonly string[]): Promise<Held | null>
}

/** A probe starts a program, so a proof counts for this time. What was not tried yet, and a failure, is tried at the next look. */
const provedFor = 20_000
const maxProved = 10_000
/** A closed port answers with a reset, which serves as well as a listener. */
const anyPort = 9
/** A probe goes to the host itself, through a device of its own: rules of other chains and of a network card do not see it. */
export const seesProbes = (actionStart: string): boolean =>
  /-[IA] INPUT\b/.test(actionStart) && !/ -i |--in-interface/.test(actionStart)

/** What the answers to a packet of an address that nobody bans, and to one of the banned address, say; null: nothing. */
export const isStopped = (control: Answer, banned: Answer, rejectsByReset: boolean): boolean | null => {
  if (control !== 'syn-ack' && control !== 'rst') return null
  // A closed port and a rule that rejects with a reset look the same.
  return control === 'rst' && banned === 'rst' && rejectsByReset ? null : banned !== control
}

/** The first TCP port that an action of a jail bans, such as of "ssh,2222" or "0:65535"; null if it is not known. */
export const firstPort = (text: string, services: string): number | null => {
  const [first = ''] = text.split(/[,:-]/)
  const name = first.trim()
  if (/^\d+$/.test(name)) return Number(name) || anyPort
  const line = new RegExp(`^${name.replace(/[^\w.+-]/g, '')}\\s+(\\d+)/tcp`, 'm').exec(services)
  return line === null ? null : Number(line[1])
}

export const createPacketProof = (needs: {
  engine: Pick<Engine, 'actionOption' | 'banned'>
  probeAll: ProbeAll
  /** The host's own addresses, without loopback and link-local. */
  addresses: () => readonly string[]
  /** Why the host lets nobody send test packets; null if it does. */
  whyNot: () => string | null
  steadyNow: () => number
}): PacketProof => {
  const { engine } = needs
  /** Bans that were tried: when, and with what result. */
  const tried = new Map<string, { readonly at: number; readonly isHeld: boolean }>()

  /** An address for documentation that no jail bans. */
  const controlSource = async (isIPv6: boolean): Promise<string | null> => {
    const banned = [...(await engine.banned()).values()]
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const source = isIPv6 ? `2001:db8:ffff::${randomInt(1, 65_535).toString(16)}` : `192.0.2.${randomInt(64, 128)}`
      if (!banned.some(ips => ips.has(source))) return source
    }
    return null
  }

  const targetOf = async (jail: string, action: string, ip: string): Promise<Target | null> => {
    if (!seesProbes((await engine.actionOption(jail, action, 'actionstart')) ?? '')) return null
    const address = needs.addresses().find(own => own.includes(':') === ip.includes(':'))
    const protocol = (await engine.actionOption(jail, action, 'protocol')) ?? 'tcp'
    if (address === undefined || !/\b(?:tcp|all)\b/.test(protocol)) return null
    const type = await engine.actionOption(jail, action, 'type')
    const text = /allports/.test(`${action} ${type ?? ''}`) ? '0' : await engine.actionOption(jail, action, 'port')
    const port = text === null ? null : firstPort(text, readText('/etc/services') ?? '')
    return port === null ? null : { address, port }
  }

  const tryOut = async (jail: string, action: string, ip: string): Promise<Held | null> => {
    const target = await targetOf(jail, action, ip)
    const source = await controlSource(ip.includes(':'))
    if (target === null || source === null) return null
    const [[control = 'none'] = [], [banned = 'none'] = []] = await needs.probeAll([source, ip], [target])
    const rejectsByReset = /tcp-reset/.test((await engine.actionOption(jail, action, 'blocktype')) ?? '')
    const stopped = isStopped(control, banned, rejectsByReset)
    if (stopped === null) return null
    if (stopped) return { state: 'yes' }
    return { state: 'no', why: `${placeText(target)} still answers its packets`, absent: [ip] }
  }

  /** The ban to try: one that was lost before, else one that was never tried, else the one that was tried first. */
  const nextOf = (key: string, ips: readonly string[]): string | null => {
    const before = (ip: string): number => {
      const last = tried.get(`${key}|${ip}`)
      return last === undefined ? 0 : last.isHeld ? last.at : -1
    }
    const single = ips.filter(ip => !ip.includes('/'))
    return single.reduce<string | null>(
      (first, ip) => (first === null || before(ip) < before(first) ? ip : first),
      null,
    )
  }

  return {
    async prove(jail, action, { kind }, ips) {
      if ((kind !== 'iptables' && kind !== 'ipset') || needs.whyNot() !== null) return null
      const key = `${jail}|${action}`
      const ip = nextOf(key, ips)
      if (ip === null) return null
      const last = tried.get(`${key}|${ip}`)
      if (last?.isHeld === true && needs.steadyNow() < last.at + provedFor) return { state: 'yes' }
      try {
        const verdict = await tryOut(jail, action, ip)
        if (tried.size > maxProved) tried.clear()
        if (verdict) tried.set(`${key}|${ip}`, { at: needs.steadyNow(), isHeld: verdict.state === 'yes' })
        return verdict
      } catch (error) {
        return { state: 'unknown', why: `a test packet, which fails: ${errorText(error)}` }
      }
    },
  }
}

const placeText = ({ address, port }: Target): string => `${address.includes(':') ? `[${address}]` : address}:${port}`
