import { EngineDown } from '../engine/engine.ts'
import type { Engine } from '../engine/engine.ts'
import { readJson, writeDurably } from '../files.ts'
import { asFields, asInteger, asList, asText } from '../json.ts'
import type { Log } from '../log.ts'
import { createSerial } from '../serial.ts'
import { errorText } from '../text.ts'
import type { Ledger } from './ledger.ts'
import type { Overrides } from './overrides.ts'

/** An unban that waits for fail2ban. */
interface Wish {
  readonly ip: string
  /** Null: every jail. */
  readonly jail: string | null
  /** When it was ordered, in epoch milliseconds. Later bans of the address are not meant. */
  readonly since: number
}

type Banned = ReadonlyMap<string, ReadonlySet<string>>

/** fail2ban keeps bans in its table for eight days at least, and restores them at its start. */
const keptFor = 8 * 24 * 3_600_000
/**
 * fail2ban lists a ban that it restores before its firewall actions have run. A ban that is lifted before that would stay in the firewall.
 * Milliseconds.
 */
const actionTime = 3000
/** After a start, bans are restored one after the other (50 a second). */
const neededLooks = 2

export interface Wishes {
  /** Lifts the ban as soon as fail2ban runs again. Answers the sentence for the operator. */
  unbanLater(jail: string | null, ip: string): string
  /** Lifts what waits. A wish is fulfilled when the ban is missing twice in a row. */
  run(): Promise<void>
}

/** Unbans that were ordered while fail2ban was down: it would restore those bans at its next start. */
export const createWishes = (needs: {
  file: string
  engine: Pick<Engine, 'banned' | 'unban' | 'version'>
  ledger: Pick<Ledger, 'active' | 'activeOf' | 'ended'>
  overrides: Pick<Overrides, 'drop'>
  drain: () => Promise<void>
  pause: (ms: number) => Promise<void>
  now: () => number
  log: Log
}): Wishes => {
  const { engine, ledger, now } = needs
  let wishes = readWishes(needs.file)
  const absences = new Map<Wish, number>()
  const inTurn = createSerial()

  const save = (): void => writeDurably(needs.file, JSON.stringify({ v: 1, wishes }))

  const isMeant = ({ ip, jail, since }: Wish, ofJail: string): boolean =>
    (jail === null || ofJail === jail) && (ledger.active(ofJail, ip)?.time ?? 0) * 1000 <= since

  /** The jails that ban what the wish means. */
  const jailsOf = (wish: Wish, banned: Banned): string[] =>
    [...banned].flatMap(([jail, ips]) => (ips.has(wish.ip) && isMeant(wish, jail) ? [jail] : []))

  /** Answers whether there was a ban to lift. */
  const fulfil = async (wish: Wish, banned: Banned): Promise<boolean> => {
    const jails = jailsOf(wish, banned)
    for (const jail of jails) {
      await engine.unban(jail, wish.ip)
      ledger.ended(jail, wish.ip, now())
      needs.log.info(`lifted the ban of ${wish.ip} in ${jail}, as was ordered while fail2ban was down`)
    }
    return jails.length > 0
  }

  const look = async (): Promise<void> => {
    // An unban deletes rows of fail2ban's table, so they must have been read before.
    await needs.drain().catch(() => undefined)
    const banned = await engine.banned()
    if (wishes.some(wish => jailsOf(wish, banned).length > 0)) await needs.pause(actionTime)
    const open: Wish[] = []
    for (const wish of wishes) {
      const wasBanned = await fulfil(wish, banned)
      absences.set(wish, wasBanned ? 0 : (absences.get(wish) ?? 0) + 1)
      if ((absences.get(wish) ?? 0) < neededLooks && wish.since + keptFor > now()) open.push(wish)
      else absences.delete(wish)
    }
    if (open.length === wishes.length) return
    wishes = open
    save()
  }

  return {
    unbanLater(jail, ip) {
      wishes = [...wishes.filter(wish => wish.ip !== ip || wish.jail !== jail), { jail, ip, since: now() }]
      save()
      needs.overrides.drop(jail, ip)
      for (const ban of ledger.activeOf(ip, jail)) ledger.ended(ban.jail, ban.ip, now())
      return `fail2ban is not running: ${ip} is unbanned in ${jail ?? 'all jails'} as soon as fail2ban runs again`
    },
    async run() {
      if (wishes.length === 0 || engine.version() === null) return
      try {
        await inTurn(look)
      } catch (error) {
        const level = error instanceof EngineDown ? 'debug' : 'warn'
        needs.log[level](`an unban that was ordered earlier has to wait: ${errorText(error)}`)
      }
    },
  }
}

const readWishes = (file: string): readonly Wish[] =>
  asList(asFields(readJson(file))['wishes']).map(value => {
    const { ip, jail, since } = asFields(value)
    return { ip: asText(ip), jail: typeof jail === 'string' ? jail : null, since: asInteger(since, 0) }
  })
