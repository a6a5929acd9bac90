import { randomUUID } from 'node:crypto'
import { knockEventId } from '../event-id.ts'
import type { Entry } from '../outbox.ts'
import type { Lists } from './members.ts'
import type { Sequence } from './model.ts'
import type { Nft, Seen } from './nft.ts'
import { setName } from './rules.ts'
import type { ListName } from './rules.ts'
import type { KnockTable } from './table.ts'
import type { KnockTime } from './time.ts'
import { createWatch } from './watch.ts'
import type { News, Watch } from './watch.ts'

/** Members that are missing from the agent's memory are searched in the sets of at most this many sequences. */
const maxSearchedSequences = 50
/** How long an event that is in the outbox may take to reach a reachable server, milliseconds. */
const outboxDelay = 10_000

/** Turns what addresses did into events, and keeps the lists in step with it. */
export interface KnockEvents {
  /** Reports what is new in a reading of the event sets. Answers whether something was, and whether an address opened a port. */
  digest(seen: readonly Seen[], readAt: number): { readonly hasNews: boolean; readonly hasOpened: boolean }
  /** Adds the members of the kernel's lists that the agent does not know of: it was away, or died before it could save. */
  findMembers(): Promise<void>
  /** The event sets are empty: nothing in them was seen before. */
  forget(): void
  save: Watch['save']
}

export const createKnockEvents = (needs: {
  saved: unknown
  serverId: string
  lists: Lists
  table: Pick<KnockTable, 'loaded'>
  nft: Pick<Nft, 'addresses'>
  append: (entries: readonly Entry[]) => void
  /** The server's clock minus ours, milliseconds; null before it has answered. */
  clockOffset: () => number | null
  /** There is something to save. */
  markUnsaved: () => void
  steadyNow: () => number
  time: Pick<KnockTime, 'now' | 'onClock'>
}): KnockEvents => {
  const { lists, table, steadyNow } = needs
  const { now, onClock } = needs.time
  const watch = createWatch(needs.saved, randomUUID)
  /** The table is left from a run that saved nothing: the past it holds may have been reported. */
  let hasUnknownPast = needs.saved === undefined
  let lastReadAt = 0

  const report = (news: readonly News[]): void => {
    if (news.length === 0) return
    const offset = needs.clockOffset()
    const entries = news.map((each): Entry => {
      const sequence = table.loaded().find(({ id }) => id === each.sequence)
      const event_id = knockEventId(needs.serverId, each.mark)
      const at = onClock(applyToLists(each, sequence, event_id))
      const reason = reasonOf(each, sequence)
      const knock = { event_id, sequence_id: each.sequence, ip: each.ip, status: statusOf(each.kind), reason }
      return { kind: 'knock', at, offset, knock }
    })
    needs.append(entries)
    needs.markUnsaved()
  }

  /** Answers when the event happened. */
  const applyToLists = (news: News, sequence: Sequence | undefined, event: string): number => {
    const { ip, kind, at } = news
    if (!sequence) return at
    const member = { sequence: sequence.id, ip, listed: false, event, takenAt: null }
    if (kind === 'success') {
      lists.open.arrived({ ...member, until: at + sequence.timeout * 1000 })
      lists.kill.left({ sequence: sequence.id, ip, until: 0 })
    }
    if (kind === 'block') lists.block.arrived({ ...member, until: at + sequence.blockDuration * 1000 })
    // A blocked knock happened before the block's end, however coarse the times are.
    const block = kind === 'hit' ? lists.block.get(sequence.id, ip) : undefined
    return block ? Math.min(at, block.until - 1) : at
  }

  const unknownIn = async (list: ListName, { id }: Sequence, family: string) => {
    const addresses = await needs.nft.addresses(setName(list, id, family))
    return addresses.filter(({ ip }) => !lists[list].get(id, ip))
  }

  const findMembersOf = async (sequence: Sequence, family: string): Promise<void> => {
    for (const { ip, expires } of await unknownIn('open', sequence, family)) {
      const until = now() + expires * 1000
      // If its event has not arrived at the server, it is in the outbox.
      const takenAt = steadyNow() + outboxDelay
      lists.open.arrived({ sequence: sequence.id, ip, until, listed: false, event: null, takenAt })
    }
    const blocks = await unknownIn('block', sequence, family)
    report(
      blocks.map(({ ip, expires }) => {
        const at = now() - Math.max(0, sequence.blockDuration - expires) * 1000
        const mark = `found|${sequence.id}|${ip}|${Math.round(at / 10_000)}`
        return { sequence: sequence.id, kind: 'block', ip, at, mark, times: 1, unlisted: 0 }
      }),
    )
  }

  return {
    digest(seen, readAt) {
      if (hasUnknownPast) {
        watch.baseline(seen, steadyNow())
        needs.markUnsaved()
      }
      hasUnknownPast = false
      const news = watch.look(seen, steadyNow(), readAt, lastReadAt)
      lastReadAt = readAt
      report(news)
      return { hasNews: news.length > 0, hasOpened: news.some(({ kind }) => kind === 'success') }
    },
    async findMembers() {
      for (const sequence of table.loaded().slice(0, maxSearchedSequences))
        for (const family of ['0.0.0.0', '::']) await findMembersOf(sequence, family)
    },
    forget() {
      hasUnknownPast = false
      watch.forget()
    },
    save: () => watch.save(),
  }
}

const statusOf = (kind: News['kind']): 'success' | 'failed' | 'blocked' =>
  kind === 'success' ? 'success' : kind === 'wrong' || kind === 'late' ? 'failed' : 'blocked'

const reasonOf = ({ kind, times, unlisted }: News, sequence: Sequence | undefined): string | null => {
  const rest = unlisted === 0 ? '' : `; ${unlisted} more addresses at the same time are not listed`
  const repetitions = times > 1 ? `, ${times} times` : ''
  if (kind === 'success') return null
  if (kind === 'wrong') return `wrong order${repetitions}${rest}`
  if (kind === 'late') return `too slow${repetitions}${rest}`
  if (kind === 'hit') return `knocked while blocked${repetitions}${rest}`
  if (!sequence) return 'blocked'
  const { blockDuration, maxAttempts } = sequence
  return `blocked for ${blockDuration} s after ${maxAttempts} failed ${maxAttempts === 1 ? 'attempt' : 'attempts'}`
}
