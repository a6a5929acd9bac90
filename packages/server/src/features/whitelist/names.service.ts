import { bounds, whitelistNames as contract } from '@stockade/contract'
import type { BodyOf, ReplyOf } from '@stockade/contract'
import type { Author } from '../../core/author.ts'
import { authorOf, system } from '../../core/author.ts'
import type { Principal } from '../../core/actor.ts'
import { day, iso, isoOrNull, second } from '../../core/clock.ts'
import { parseIp } from '../../core/ip.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'
import { admit, creatorOf } from '../../core/leaving.ts'
import { conflict, invalid, notFound } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import type { ListChanges } from './changes.ts'
import { dnsNameOf, judgeAnswer } from './dns-names.ts'
import type { Judgement, ResolveName } from './dns-names.ts'
import type { NewEntry } from './entries.ts'
import { describeBound } from './entries.ts'
import type { Mirror } from './mirror.ts'
import { allNames, deleteName, dueNames, insertName, updateName } from './names.store.ts'
import type { NameRow } from './names.store.ts'
import { activeTouching } from './whitelist.store.ts'

type NameView = ReplyOf<typeof contract.addWhitelistName>
type NewName = BodyOf<typeof contract.addWhitelistName>

/** DNS names on the whitelist, whose addresses are entries of it. */
export interface WhitelistNames {
  list(): Promise<ReplyOf<typeof contract.listWhitelistNames>>
  /** Resolves the name before it returns. @throws Problem 400 for what is no name, 409 for one that is there already or one too many */
  add(actor: Principal, input: NewName): Promise<NameView>
  /** Returns the name. @throws Problem 404 */
  remove(actor: Principal, id: number): Promise<string>
  /** Resolves the names that are due, and lets their addresses be entries. One process does it for all. */
  lookAtDue(): Promise<void>
}

/** Names that are asked for at a time. */
const atOnce = 8
/** A name that gives nothing for so long is told once. */
const toldAfter = day

const viewOf = (row: NameRow): NameView => ({
  id: row.id,
  name: row.name,
  description: row.description,
  created_by: row.created_by,
  created_at: iso(row.created_at),
  addresses: [...parseJson(row.addresses)],
  since: isoOrNull(row.since),
  checked_at: isoOrNull(row.checked_at),
  next_check_at: iso(row.next_at),
  last_error: row.last_error,
})

export const createWhitelistNames = (
  needs: StoreAccess & {
    mirror: Pick<Mirror, 'version'>
    resolve: ResolveName
    changes: Pick<ListChanges, 'settleNames'>
    liftCovered: (author: Author, entries: readonly NewEntry[]) => Promise<number>
  },
): WhitelistNames => {
  const { db, clock, events, mirror, resolve, changes } = needs

  const judge = async (row: NameRow): Promise<Judgement> =>
    judgeAnswer(await resolve(row.name), parseJson(row.addresses))
  /** How many bans in force the new addresses of a name have. */
  const bansOf = async (sql: Change['sql'], addresses: readonly string[]): Promise<number> => {
    const activeRows = await Promise.all(
      addresses.flatMap(text => parseIp(text) ?? []).map(ip => activeTouching(sql, ip, clock())),
    )
    return new Set(activeRows.flat().map(({ ban_id }) => ban_id)).size
  }
  const takeAddresses = async (change: Change, row: NameRow, judgement: Judgement): Promise<void> => {
    const now = clock()
    const before = parseJson(row.addresses)
    const addresses = judgement.addresses ?? before
    const isOther = JSON.stringify(addresses) !== row.addresses
    await updateName(change.sql, row.id, {
      addresses: jsonText(addresses),
      since: isOther ? now : row.since,
      checked_at: now,
      next_at: now + judgement.pause,
      failing_since: null,
      last_error: judgement.error,
    })
    if (!isOther) return
    const { id, name } = row
    const data = { id, name, addresses, before, version: mirror.version() }
    await change.record({ name: 'whitelist.name_resolve', data })
    const banned = await bansOf(
      change.sql,
      addresses.filter(ip => !before.includes(ip)),
    )
    if (banned === 0) return
    const reason = `It leads to an address with ${banned} ${banned === 1 ? 'ban' : 'bans'} in force, which the whitelist lifts.`
    await change.record({ name: 'whitelist.name_warn', data: { ...data, reason } })
  }
  /** Keeps the addresses of before. What was refused is told when it is news, what fails is told once after a day. */
  const keepAddresses = async (change: Change, row: NameRow, { error, isRefused, pause }: Judgement): Promise<void> => {
    const now = clock()
    const since = row.failing_since ?? now
    const isLong = now - since >= toldAfter && (row.checked_at ?? now) - since < toldAfter
    await updateName(change.sql, row.id, {
      checked_at: now,
      next_at: now + pause,
      failing_since: since,
      last_error: error,
    })
    const isNews = isRefused && row.last_error !== error
    if (!isNews && !isLong) return
    const reason = isNews ? error : `It could not be resolved for a day. ${error ?? ''}`
    const data = { id: row.id, name: row.name, addresses: parseJson(row.addresses), reason, version: mirror.version() }
    await change.record({ name: 'whitelist.name_warn', data })
  }
  /** What look-ups gave, as one change of the list. */
  const apply = async (judged: readonly { readonly id: number; readonly judgement: Judgement }[]): Promise<void> => {
    const added = await changes.settleNames(async change => {
      // Another process may have looked meanwhile, or removed the name.
      const rows = new Map((await allNames(change.sql)).map(row => [row.id, row]))
      for (const { id, judgement } of judged) {
        const row = rows.get(id)
        if (row) await (judgement.addresses ? takeAddresses : keepAddresses)(change, row, judgement)
      }
    })
    await needs.liftCovered(system, added)
  }

  return {
    list: async () => ({ names: (await allNames(db.read)).map(viewOf) }),
    async add(actor, { name: typed, description = '' }) {
      const name = dnsNameOf(typed)
      if (name === null) throw invalid('name', 'name must be a DNS name with a dot, such as office.dyn.example.')
      const now = clock()
      const creator = creatorOf(actor)
      const id = await events.change(async change => {
        const rows = await allNames(change.sql)
        const there = rows.find(row => row.name === name)
        if (there) throw conflict(`The name ${name} is on the whitelist already (name ${there.id}).`)
        const own = rows.filter(row => row.creator === creator).length
        admit(contract.addWhitelistName.leaves, { all: rows.length, own }, actor)
        const row = await insertName(change.sql, {
          name,
          description: tame(description, describeBound * 4),
          addresses: jsonText([]),
          since: null,
          checked_at: null,
          // It is looked at below; by the job only if this process ends before.
          next_at: now + bounds.whitelistNames.interval.minimum * second,
          failing_since: null,
          last_error: null,
          created_by: actor.name,
          creator,
          created_at: now,
        })
        await change.record({
          name: 'whitelist.name_create',
          author: authorOf(actor),
          data: { id: row.id, name, description: row.description, version: mirror.version() },
        })
        return row.id
      })
      const rowOf = async () => (await allNames(db.read)).find(row => row.id === id)
      const row = await rowOf()
      if (row) await apply([{ id, judgement: await judge(row) }])
      const looked = await rowOf()
      if (!looked) throw notFound(`There is no whitelisted name ${id}.`)
      return viewOf(looked)
    },
    async remove(actor, id) {
      let removed: NameRow | undefined
      const added = await changes.settleNames(async change => {
        removed = await deleteName(change.sql, id)
        if (!removed) throw notFound(`There is no whitelisted name ${id}.`)
        const { name, description } = removed
        const data = { id, name, description, version: mirror.version() }
        await change.record({ name: 'whitelist.name_delete', author: authorOf(actor), data })
      })
      await needs.liftCovered(authorOf(actor), added)
      return removed?.name ?? ''
    },
    async lookAtDue() {
      const rows = await dueNames(db.read, clock())
      for (let start = 0; start < rows.length; start += atOnce) {
        const part = rows.slice(start, start + atOnce)
        await apply(await Promise.all(part.map(async row => ({ id: row.id, judgement: await judge(row) }))))
      }
    },
  }
}
