import { join } from 'node:path'
import type { Ledger } from '../bans/ledger.ts'
import { EngineRefused } from '../engine/engine.ts'
import type { Engine } from '../engine/engine.ts'
import { ownJail } from '../engine/own-files.ts'
import { whyNotRange } from '../engine/ranges.ts'
import { readJson, writeDurably } from '../files.ts'
import { isCidr } from '../ip.ts'
import { asFields, asList } from '../json.ts'
import { createSerial } from '../serial.ts'
import type { FleetStore } from './fleet-store.ts'
import type { ShieldReport } from './model.ts'
import { needsTrial } from './refusals.ts'

/** fail2ban runs the actions of each ban one after the other, and the bans of its other jails wait meanwhile. */
const maxEntries = 1000
/** The list of bans may be so old at a look, in milliseconds. */
const listAge = 5000

/** Fleet bans on a host without nftables: fail2ban's jail `stockade` holds them, one ban at a time. */
export interface FleetJail {
  /** The shield was tried. From now on, and while the host has no shield, fail2ban holds the fleet bans. */
  open(): void
  isUsed(): boolean
  /** The entries that fail2ban cannot ban, with the reason. */
  refusals(entries: Iterable<string>): Map<string, string>
  /** Brings fail2ban to what is wanted. Answers whether it changed anything. @throws EngineDown, EngineRefused */
  follow(isLook?: boolean): Promise<boolean>
  /** Which of the wanted entries fail2ban lists, with their ends. @throws EngineDown */
  held(): Promise<Map<string, number | null>>
  /** Whether fail2ban has the ban because of a fleet ban: then it is no ban of this host, and is not reported as one. */
  holds(jail: string, ip: string): boolean
}

interface FleetJailNeeds {
  stateDirectory: string
  store: Pick<FleetStore, 'wanted'>
  shield: () => Pick<ShieldReport, 'supported'>
  engine: Pick<Engine, 'ban' | 'banned' | 'unban' | 'version'>
  /** Bans that were made on this host or by command stay when the fleet ban of the same address ends. */
  ledger: Pick<Ledger, 'active'>
  ensureOwnJail: () => Promise<boolean>
  /** The server's time, epoch milliseconds. */
  serverNow: () => number
}

export const createFleetJail = (needs: FleetJailNeeds): FleetJail => {
  const { engine, ledger, serverNow } = needs
  const inTurn = createSerial()
  const file = join(needs.stateDirectory, 'fleet-jail.json')
  const placed = readPlaced(file)
  let isOpen = false
  const isUsed = (): boolean => isOpen && !needs.shield().supported

  const save = (): void => writeDurably(file, JSON.stringify({ v: 1, entries: [...placed] }))
  const wantedNow = (): Map<string, number | null> =>
    new Map(isUsed() ? [...needs.store.wanted()].filter(([, until]) => until === null || until > serverNow()) : [])

  /** On the disk before fail2ban has them: a ban that nobody remembers would stay for good. */
  const remember = (entries: readonly string[]): void => {
    const fresh = entries.filter(entry => !placed.has(entry))
    if (fresh.length === 0) return
    for (const entry of fresh) placed.add(entry)
    save()
  }

  const lift = async (entries: readonly string[]): Promise<void> => {
    for (const entry of entries) {
      if (ledger.active(ownJail, entry) === null)
        await engine.unban(ownJail, entry).catch((error: unknown) => {
          // A jail that does not run bans nobody.
          if (!(error instanceof EngineRefused)) throw error
        })
      placed.delete(entry)
    }
    if (entries.length > 0) save()
  }

  return {
    open() {
      isOpen = true
    },
    isUsed,
    refusals(entries) {
      const refused = new Map<string, string>()
      let count = 0
      for (const entry of entries) {
        const reason = !isCidr(entry)
          ? null
          : needsTrial(entry)
            ? 'a range this wide needs nftables, so that a mistake can be undone'
            : whyNotRange(entry, engine.version())
        if (reason !== null) refused.set(entry, reason)
        else if ((count += 1) > maxEntries)
          refused.set(entry, `without nftables this host holds ${maxEntries} fleet bans at most`)
      }
      return refused
    },
    follow: (isLook = false) =>
      inTurn(async () => {
        const desiredBans = wantedNow()
        if (desiredBans.size === 0 && placed.size === 0) return false
        if (desiredBans.size > 0) await needs.ensureOwnJail()
        const banned = (await engine.banned(isLook ? listAge : 0)).get(ownJail)
        const missing = [...desiredBans.keys()].filter(entry => banned?.has(entry) !== true)
        const excess = [...placed].filter(entry => !desiredBans.has(entry))
        remember([...desiredBans.keys()])
        for (const entry of missing) await engine.ban(ownJail, entry)
        await lift(excess)
        return missing.length + excess.length > 0
      }),
    held: () =>
      inTurn(async () => {
        const banned = (await engine.banned()).get(ownJail)
        // Bans that ended since count as held, as in the kernel: the server's set of that version has them too.
        return new Map(
          [...needs.store.wanted()].filter(
            ([entry, until]) => (until !== null && until <= serverNow()) || banned?.has(entry) === true,
          ),
        )
      }),
    holds: (jail, ip) => jail === ownJail && placed.has(ip),
  }
}

/** Absent or damaged: fail2ban then keeps bans that the next look finds wanted, or that somebody has to lift. */
const readPlaced = (file: string): Set<string> =>
  new Set(asList(asFields(readJson(file))['entries']).filter(entry => typeof entry === 'string'))
