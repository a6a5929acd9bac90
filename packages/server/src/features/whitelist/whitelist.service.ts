import { bounds } from '@stockade/contract/limits.ts'
import { system, authorOf } from '../../core/author.ts'
import { inSlices } from '../../core/slices.ts'
import { iso, isoOrNull } from '../../core/clock.ts'
import { parseIp, parseRange } from '../../core/ip.ts'
import { conflict, invalid, notFound } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'
import type { StoreAccess } from '../../events/events.ts'
import { chunk, entryOfName } from './changes.ts'
import type { ListChanges } from './changes.ts'
import type { createCoveredBans } from './covered-bans.ts'
import { endOf } from './ends.ts'
import { describeBound, rangeOf, viewOf, wordOf, worded } from './entries.ts'
import type { NewEntry } from './entries.ts'
import { readCsv, readJson, readPlain } from './formats.ts'
import type { Candidate } from './formats.ts'
import type { Mirror } from './mirror.ts'
import {
  changeEntry,
  countEntries,
  deleteEnded,
  deleteEntries,
  findEntry,
  findEntryOf,
  hasEnded,
  pageOfEntries,
} from './whitelist.store.ts'
import { exportJson, exportText } from './whitelist-export.ts'
import type { WhitelistService } from './whitelist.model.ts'

const mostErrors = 10_000

export const createWhitelist = (
  needs: StoreAccess & {
    mirror: Mirror
    changes: ListChanges
    covered: ReturnType<typeof createCoveredBans>
  },
): WhitelistService => {
  const { db, clock, events, mirror, covered } = needs
  const missing = (id: number) => notFound(`There is no whitelist entry ${id}.`)

  const endNamed = (path: string, text: string | null | undefined): number | null => {
    const end = endOf(text, clock())
    if ('error' in end) throw invalid(path, `${path} ${end.error}.`)
    return end.at
  }
  const { insert, takeOff } = needs.changes
  return {
    async list(_, { search, page = 1, limit = 50 }) {
      const filter = { search, address: search === undefined ? undefined : parseRange(search)?.text }
      const rows = await pageOfEntries(db.read, filter, (page - 1) * limit, limit)
      return { whitelist: rows.map(viewOf), total: await countEntries(db.read, filter), page, limit }
    },
    async read(id) {
      const row = await findEntry(db.read, id)
      if (!row) throw missing(id)
      return viewOf(row)
    },
    async add(actor, input) {
      const checked = rangeOf(input.ip)
      if ('error' in checked) throw invalid('ip', `ip ${checked.error}.`)
      const { range } = checked
      const expires_at = endNamed('expires_at', input.expires_at)
      const entry = { ip: range.text, description: worded(input.description ?? ''), expires_at, range }
      const [added] = await insert(actor, [entry], input.confirm_share)
      if (!added) {
        const there = await findEntryOf(db.read, range.text)
        throw conflict(
          `The ${wordOf(range)} ${range.text} is on the whitelist already${there ? ` (entry ${there.id})` : ''}.`,
        )
      }
      const lifted_bans = await covered.lift(authorOf(actor), [entry])
      return {
        id: added.id,
        ip: entry.ip,
        description: entry.description,
        created_by: actor.name,
        created_at: iso(added.at),
        expires_at: isoOrNull(expires_at),
        lifted_bans,
      }
    },
    async addMany(actor, entries, confirmShare) {
      const fresh = new Map<string, NewEntry>()
      await inSlices(entries, ({ ip, description, expires_at }, index) => {
        const checked = rangeOf(ip)
        if ('error' in checked) throw invalid(`entries.${index}.ip`, `entries.${index}.ip ${checked.error}.`)
        const { range } = checked
        const end = endNamed(`entries.${index}.expires_at`, expires_at)
        if (!fresh.has(range.text))
          fresh.set(range.text, { ip: range.text, description: worded(description ?? ''), expires_at: end, range })
      })
      const added = await insert(actor, [...fresh.values()], confirmShare)
      await covered.lift(
        authorOf(actor),
        added.map(({ entry }) => entry),
      )
      return { added: added.length, entries: added.map(({ id, entry }) => ({ id, ip: entry.ip })) }
    },
    async change(actor, id, { description, expires_at }) {
      const set = {
        ...(description === undefined ? {} : { description: worded(description) }),
        ...(expires_at === undefined ? {} : { expires_at: endNamed('expires_at', expires_at) }),
      }
      const row =
        Object.keys(set).length === 0
          ? await findEntry(db.read, id)
          : await events.change(async change => {
              const before = await findEntry(change.sql, id)
              if (before && before.name_id !== null) throw entryOfName(before)
              const after = before && (await changeEntry(change.sql, id, set, clock()))
              if (!after) return undefined
              await change.record({
                name: 'whitelist.update',
                author: authorOf(actor),
                data: {
                  id,
                  ip: before.ip,
                  ...('description' in set
                    ? { old_description: before.description, description: after.description }
                    : {}),
                  ...('expires_at' in set
                    ? { old_expires_at: isoOrNull(before.expires_at), expires_at: isoOrNull(after.expires_at) }
                    : {}),
                  version: mirror.version(),
                },
              })
              return after
            })
      if (!row) throw missing(id)
      return {
        id: row.id,
        ip: row.ip,
        description: row.description,
        updated_at: iso(row.updated_at),
        expires_at: isoOrNull(row.expires_at),
      }
    },
    async remove(actor, id) {
      const [removed] = await takeOff(authorOf(actor), sql => deleteEntries(sql, [id]))
      if (!removed) throw missing(id)
      return removed.ip
    },
    async removeMany(actor, ids) {
      return (await takeOff(authorOf(actor), sql => deleteEntries(sql, ids))).length
    },
    async check(text) {
      const ip = parseIp(text)
      if (!ip) throw invalid('ip', 'ip must be an IPv4 or IPv6 address.')
      const coveringEntry = mirror.covers(ip)
      const row = coveringEntry && (await findEntry(db.read, coveringEntry.id))
      // Removed by another process a moment ago: the next one that covers it is known in a moment, too.
      return {
        ip: ip.text,
        whitelisted: Boolean(row),
        matched_entry: row
          ? { id: row.id, ip: row.ip, description: row.description, expires_at: isoOrNull(row.expires_at) }
          : null,
      }
    },
    async import(actor, { format = 'plain', content, description_prefix: prefix = '', confirm_share }) {
      const candidates =
        format === 'json' ? readJson(content) : format === 'csv' ? readCsv(content) : readPlain(content)
      if (!candidates)
        throw invalid('content', 'content must be JSON: an array of entries, or an object with one under whitelist.')
      const fresh = new Map<string, NewEntry>()
      const errors: { line: number; value: string; error: string }[] = []
      let error_count = 0
      let good = 0
      const refuse = ({ line, value }: Candidate, error: string) => {
        if (++error_count <= mostErrors) errors.push({ line, value: tame(value.slice(0, 200), 400), error })
      }
      await inSlices(candidates, candidate => {
        const { ip, error } = candidate
        if (error !== undefined) return refuse(candidate, error)
        const checked = rangeOf(ip)
        if ('error' in checked) return refuse(candidate, `The address ${checked.error}.`)
        const description = prefix + candidate.description
        if (description.length > describeBound)
          return refuse(candidate, `The description is longer than ${describeBound} characters.`)
        const end = endOf(candidate.expires_at, clock())
        if ('error' in end) return refuse(candidate, `Its end ${end.error}.`)
        good++
        const { range } = checked
        if (!fresh.has(range.text))
          fresh.set(range.text, { ip: range.text, description: worded(description), expires_at: end.at, range })
      })
      const added = fresh.size > 0 ? await insert(actor, [...fresh.values()], confirm_share) : []
      await covered.lift(
        authorOf(actor),
        added.map(({ entry }) => entry),
      )
      const ids = added.length > bounds.removals ? [] : added.map(({ id }) => id)
      return { imported: added.length, skipped: good - added.length, errors, error_count, ids }
    },
    exportText: format => exportText(db, format),
    exportJson: () => exportJson(db, clock()),
    async expire() {
      // A whole list may end at the same moment: some thousands at a time.
      while (await hasEnded(db.read, clock())) {
        const now = clock()
        const ended = await takeOff(
          system,
          sql => deleteEnded(sql, now, chunk),
          ({ expires_at }) => ({ expires_at: isoOrNull(expires_at) }),
        )
        if (ended.length === 0) return
      }
    },
    render: () => mirror.render(),
  }
}
