import type { Log } from '../log.ts'
import type { Serial } from '../serial.ts'
import { createBatches } from './batches.ts'
import { createChanges } from './changes.ts'
import type { Change } from './changes.ts'
import type { Disk } from './disk.ts'
import type { Shield } from './model.ts'
import { needsTrial, refuseMore } from './refusals.ts'
import type { ShieldBan } from './store.ts'
import { coversEntry } from './table.ts'
import type { ShieldTable } from './table.ts'
import { reachesServer } from './trial.ts'
import type { WantedBans } from './wanted.ts'

/** What is done with the shield's own bans. */
interface Orders {
  readonly calls: Pick<Shield, 'ban' | 'adopt' | 'lift' | 'release' | 'bans' | 'has' | 'coveredBy'>
  endExpired(): void
  liftWhitelisted(): Promise<void>
}

export const createOrders = (needs: {
  bans: Map<string, ShieldBan>
  inTurn: Serial
  disk: Disk
  table: ShieldTable
  wanted: WantedBans
  isOn: () => boolean
  /** What the shield is when it is not on, as the end of a sentence. */
  whyOff: () => string
  isStopped: () => boolean
  answers: () => Promise<boolean>
  isReported: (entry: string, bannedAt: number) => boolean
  isWhitelisted: (entry: string) => boolean
  onBanned: (bans: readonly ShieldBan[]) => void
  onEnded: (ban: ShieldBan, at: number) => void
  now: () => number
  serverNow: () => number
  steadyNow: () => number
  log: Log
}): Orders => {
  const { bans, inTurn, disk, wanted, isOn, now, serverNow, log } = needs
  const submit = createBatches<Change>(inTurn, createChanges(needs))

  /** @throws Error if the host cannot reach the server with the ban in force; the ban is lifted then */
  const passTrial = async (entry: string): Promise<void> => {
    if (await reachesServer(needs)) return
    await submit(entry)
    throw new Error(`the server could not be reached while ${entry} was banned, so the ban was lifted`)
  }

  const endExpired = (): void => {
    const offset = serverNow() - now()
    for (const ban of [...bans.values()].filter(wanted.isOver)) {
      bans.delete(ban.entry)
      disk.isUnsaved = true
      needs.onEnded(ban, (ban.until ?? 0) - offset)
    }
  }

  const lift = async (entry: string): Promise<boolean> => {
    const ban = bans.get(entry)
    if (ban === undefined) return false
    await submit(entry)
    needs.onEnded(ban, now())
    return true
  }

  const liftWhitelisted = async (): Promise<void> => {
    for (const { entry } of [...bans.values()].filter(ban => needs.isWhitelisted(ban.entry))) {
      await lift(entry)
      log.info(`shield: lifted the ban of ${entry}: whitelisted`)
    }
  }

  const calls: Orders['calls'] = {
    async ban({ entry, duration, commandId, isCut }) {
      if (!isOn()) throw new Error(`the shield is ${needs.whyOff()}`)
      const until = duration < 0 ? null : serverNow() + duration * 1000
      const before = bans.get(entry)
      if (before === undefined) refuseMore(bans.size)
      let bannedAt = before?.bannedAt ?? Math.floor(now() / 1000)
      // The time is part of the id of the report.
      while (before === undefined && needs.isReported(entry, bannedAt)) bannedAt += 1
      const ban: ShieldBan = { entry, until, bannedAt, duration, commandId, isOnTrial: false, isCut }
      if (needsTrial(entry) && before === undefined) {
        await submit({ ...ban, isOnTrial: true })
        await passTrial(entry)
      }
      await submit(ban)
      return before !== undefined
    },
    async adopt(moved) {
      const offset = serverNow() - now()
      await Promise.all(
        moved
          .filter(({ entry }) => !bans.has(entry))
          .map(ban =>
            submit({
              ...ban,
              until: ban.until === null ? null : ban.until + offset,
              commandId: null,
              isOnTrial: false,
              isCut: false,
            }),
          ),
      )
    },
    lift,
    async release(entry) {
      const coveredBans = [...bans.keys()].filter(banned => coversEntry(banned, entry))
      for (const banned of coveredBans) await lift(banned)
      return coveredBans
    },
    bans: () => [...bans.values()],
    has: entry => bans.has(entry),
    coveredBy: entry => [...bans.keys()].find(banned => banned !== entry && coversEntry(banned, entry)) ?? null,
  }
  return { calls, endExpired, liftWhitelisted }
}
