import { second } from '../../core/clock.ts'
import { labelsOf, sampleLine } from '../../http/exposition.ts'
import type { Scrape } from '../../http/exposition.ts'
import type { Metrics } from '../../http/metrics.ts'
import { levelOf } from '../servers/protection.ts'
import type { Registry, Server } from '../servers/registry.ts'
import { tagsOf } from '../servers/tags.store.ts'
import type { Jail } from '../../db/tables/stored.ts'

/*
 * Series of each server and jail, from memory. Names that begin with `f2b_` are those of the known exporters of fail2ban. The lines of a
 * server are made once for each of its reports, and a scrape only joins them.
 */

interface Family {
  readonly name: string
  readonly help: string
  readonly type?: 'counter'
  /** Whether what is beyond the limit is one sum. */
  readonly isSummed?: true
}
interface ServerFamily extends Family {
  readonly of: (server: Server) => number | null
}
interface JailFamily extends Family {
  readonly of: (jail: Jail) => number | null
}

const levels = ['unknown', 'unprotected', 'degraded', 'protected'] as const
const isEngineUp = (server: Server): boolean =>
  server.row.status === 'online' &&
  (server.protection?.checks.every(({ id, state }) => id !== 'engine' || state !== 'bad') ?? true)

const serverFamilies: readonly ServerFamily[] = [
  {
    name: 'f2b_up',
    help: '1 while the server is online and its fail2ban answers',
    of: server => (server.row.status === 'pending' ? null : Number(isEngineUp(server))),
  },
  {
    // Exporters say f2b_jail_count, which promtool refuses; docs/monitoring/stockade-rules.yml records it.
    name: 'stockade_server_jails',
    help: 'Jails that run',
    isSummed: true,
    of: ({ jails }) => jails.filter(({ enabled }) => enabled).length,
  },
  {
    name: 'stockade_server_up',
    help: '1 while the server is online',
    of: ({ row }) => Number(row.status === 'online'),
  },
  {
    name: 'stockade_server_protection_level',
    help: '3 protected, 2 degraded, 1 unprotected, 0 unknown',
    of: server => levels.indexOf(levelOf(server)),
  },
  {
    name: 'stockade_server_last_heartbeat_timestamp_seconds',
    help: 'Time of the last heartbeat',
    of: ({ lastHeartbeat }) => (lastHeartbeat === null ? null : lastHeartbeat / second),
  },
]
const jailFamilies: readonly JailFamily[] = [
  {
    name: 'f2b_jail_banned_current',
    help: 'Addresses that the jail bans now',
    isSummed: true,
    of: jail => jail.current_bans,
  },
  {
    name: 'f2b_jail_banned_total',
    help: 'Bans of the jail since its fail2ban started',
    type: 'counter',
    isSummed: true,
    of: jail => jail.total_banned ?? null,
  },
  {
    name: 'f2b_jail_failed_current',
    help: 'Addresses with attempts that the jail counts now',
    isSummed: true,
    of: jail => jail.current_failed ?? null,
  },
  {
    name: 'f2b_jail_failed_total',
    help: 'Attempts that the jail saw since its fail2ban started',
    type: 'counter',
    isSummed: true,
    of: jail => jail.total_failed ?? null,
  },
  { name: 'f2b_config_jail_ban_time', help: 'Ban time of the jail in seconds; -1 for ever', of: jail => jail.bantime },
  { name: 'f2b_config_jail_find_time', help: 'Time in which the jail counts attempts', of: jail => jail.findtime },
  { name: 'f2b_config_jail_max_retries', help: 'Attempts that lead to a ban', of: jail => jail.maxretry },
]
const tagFamily: Family = {
  name: 'stockade_server_tag',
  help: '1 for each tag of a server; one without a tag for a server that has none',
}

/** Labels of the one series that holds what is beyond the limit. */
const rest = '(other)'
/** The lines of one server. They are changed in place: at 3,000 servers, garbage costs more than the lines. */
interface Chunk {
  server: Server
  readonly label: string
  readonly jailNames: readonly string[]
  /** Labels of the server and of each jail, as text. */
  readonly ownLabels: readonly string[]
  readonly jailLabels: readonly string[]
  /** By the place of the family: its values, NaN for none, and its lines. */
  readonly values: readonly Float64Array[]
  readonly texts: string[]
  tags: string
}
const families = [...serverFamilies, ...jailFamilies]
const running = ({ jails }: Server) => jails.filter(({ enabled }) => enabled)
const isOf = ({ jailNames }: Chunk, jails: readonly Jail[]) =>
  jailNames.length === jails.length && jails.every(({ name }, index) => name === jailNames[index])

const setLines = ({ values, texts }: Chunk, place: number, labels: readonly string[]) => {
  const { name } = families[place] ?? tagFamily
  const parts: string[] = []
  for (const [index, value] of (values[place] ?? []).entries())
    if (!Number.isNaN(value)) parts.push(name, labels[index] ?? '', ' ', String(value), '\n')
  // Joined, not added: a string that is made of others by adding is copied together again at each scrape.
  texts[place] = parts.join('')
}
/** Takes in what a server reported. */
const update = (chunk: Chunk, server: Server, jails: readonly Jail[]) => {
  const { label, values, ownLabels, jailLabels } = chunk
  const put = (place: number, index: number, value: number | null): boolean => {
    const row = values[place]
    const next = value ?? NaN
    if (!row || Object.is(row[index], next)) return false
    row[index] = next
    return true
  }
  for (const [place, { of }] of serverFamilies.entries())
    if (put(place, 0, of(server))) setLines(chunk, place, ownLabels)
  for (const [offset, { of }] of jailFamilies.entries()) {
    const place = serverFamilies.length + offset
    let isChanged = false
    for (const [index, jail] of jails.entries()) isChanged = put(place, index, of(jail)) || isChanged
    if (isChanged) setLines(chunk, place, jailLabels)
  }
  if (chunk.tags === '' || chunk.server.row.tags !== server.row.tags) {
    const tags = tagsOf(server.row)
    const tagLine = (tag: string) => sampleLine(tagFamily.name, labelsOf(['server', 'tag'], [label, tag]), 1)
    chunk.tags = (tags.length === 0 ? [''] : [...tags]).map(tagLine).join('')
  }
  chunk.server = server
}
const chunkOf = (server: Server, label: string, before: Chunk | undefined): Chunk => {
  if (before?.server === server && before.label === label) return before
  const jails = running(server)
  if (before?.label === label && isOf(before, jails)) {
    update(before, server, jails)
    return before
  }
  const jailNames = jails.map(({ name }) => name)
  const chunk: Chunk = {
    server,
    label,
    jailNames,
    ownLabels: [labelsOf(['server'], [label])],
    jailLabels: jailNames.map(name => labelsOf(['server', 'jail'], [label, name])),
    values: families.map((_, place) => new Float64Array(place < serverFamilies.length ? 1 : jails.length).fill(NaN)),
    texts: families.map(() => ''),
    tags: '',
  }
  update(chunk, server, jails)
  return chunk
}
const jailsOf = ({ jailNames }: Chunk) => Math.max(1, jailNames.length)

interface Shown {
  readonly chunks: readonly Chunk[]
  readonly left: readonly Chunk[]
}
/** @param most jails in series of their own; 0: no series by server */
export const addHostSeries = (metrics: Metrics, registry: Pick<Registry, 'all'>, most: number): void => {
  let chunkByNo = new Map<number, Chunk>()
  /** Names of hosts need not be unique, but series must be. */
  const labelled = (servers: readonly Server[]) => {
    const listedNames = new Set([rest])
    return servers.map(server => {
      const { hostname, id } = server.row
      let label = hostname
      while (listedNames.has(label)) label += `/${id.slice(-12)}`
      listedNames.add(label)
      return chunkOf(server, label, chunkByNo.get(server.row.no))
    })
  }
  let last: { readonly scrape: Scrape; readonly shown: Shown } | null = null
  const shownTo = (scrape: Scrape): Shown => {
    if (last?.scrape === scrape) return last.shown
    // The oldest servers first: a new one does not take the series of another.
    const all = registry.all().toSorted((one, other) => one.row.no - other.row.no)
    const chunks: Chunk[] = []
    const left: Chunk[] = []
    let jails = 0
    const labelledChunks = labelled(all)
    chunkByNo = new Map(labelledChunks.map(one => [one.server.row.no, one]))
    for (const one of labelledChunks) {
      if (!scrape.sees(one.server.row.no)) continue
      if (jails + jailsOf(one) > most) left.push(one)
      else {
        jails += jailsOf(one)
        chunks.push(one)
      }
    }
    last = { scrape, shown: { chunks, left } }
    return last.shown
  }
  const add = ({ name, help, type, isSummed }: Family, place: number) => {
    const labels = place < serverFamilies.length ? ['server'] : ['server', 'jail']
    const others = labelsOf(
      labels,
      labels.map(() => rest),
    )
    metrics.add({
      name,
      help,
      type: type ?? 'gauge',
      write(write, scrape) {
        const { chunks, left } = shownTo(scrape)
        for (const { texts } of chunks) write(texts[place] ?? '')
        if (!isSummed || left.length === 0) return
        let sum = 0
        for (const { values } of left) for (const value of values[place] ?? []) sum += Number.isNaN(value) ? 0 : value
        write(sampleLine(name, others, sum))
      },
    })
  }
  if (most === 0) return
  for (const [place, family] of families.entries()) add(family, place)
  metrics.add({
    ...tagFamily,
    type: 'gauge',
    write(write, scrape) {
      for (const { tags } of shownTo(scrape).chunks) write(tags)
    },
  })
  metrics.add({
    name: 'stockade_metrics_jails_left_out',
    help: `Jails beyond STOCKADE_METRICS_JAILS, which stand in the series of server "${rest}" together`,
    type: 'gauge',
    write: (write, scrape) =>
      write(
        sampleLine(
          'stockade_metrics_jails_left_out',
          '',
          shownTo(scrape).left.reduce((sum, one) => sum + jailsOf(one), 0),
        ),
      ),
  })
}
