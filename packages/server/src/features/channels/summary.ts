import { day } from '../../core/clock.ts'
import { ipText } from '../../core/ip.ts'
import { beginOf } from '../../core/wall.ts'
import type { Database } from '../../db/database.ts'
import type { Message } from '../../db/tables/message.ts'
import { countryCodes, jailNames } from '../bans/stats.store.ts'
import { countryName } from '../ipinfo/ipinfo.service.ts'
import type { Registry } from '../servers/registry.ts'
import { oneLine } from './message.ts'
import { countIn, failedCommands, topAddresses, whitelistChanges } from './summary.store.ts'
import type { Window } from './summary.store.ts'

const dayBefore = (date: string): string => new Date(Date.parse(`${date}T00:00:00Z`) - day).toISOString().slice(0, 10)

const top = 10
const number = new Intl.NumberFormat('en')
const changeOf = (now: number, before: number): string => {
  if (now === before) return `as many as the day before`
  if (before === 0) return `none the day before`
  const percent = Math.round((100 * Math.abs(now - before)) / before)
  return `${percent} % ${now > before ? 'more' : 'fewer'} than the day before (${number.format(before)})`
}
const sumOf = (counts: ReadonlyMap<number, number>) => [...counts.values()].reduce((total, n) => total + n, 0)
const ranked = (counts: ReadonlyMap<number, number>) => [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])
const plural = (n: number, one: string) => `${number.format(n)} ${n === 1 ? one : `${one}s`}`

type Table = NonNullable<Message['tables']>[number]
/** A table without rows is left out. */
const tableOf = (
  title: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  total: number,
): readonly Table[] => (total === 0 ? [] : [{ title, columns, rows, total }])

const mostNamed = 20
const offlineText = (hostnames: readonly string[]): string => {
  if (hostnames.length === 0) return 'none'
  const more = hostnames.length - mostNamed
  return `${hostnames.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

interface Needs {
  readonly db: Database
  readonly registry: Pick<Registry, 'all' | 'byNo'>
}
/** Bans of a day by server, jail, country and address. */
const readBans = async ({ db: { read: sql } }: Needs, window: Window, before: Window) => ({
  servers: await countIn(sql, 'server', window),
  serversBefore: await countIn(sql, 'server', before),
  jails: await countIn(sql, 'jail', window),
  countries: await countIn(sql, 'country', window),
  addresses: await topAddresses(sql, window, top),
})
type DayBans = Awaited<ReturnType<typeof readBans>>

const banTables = async (
  sql: Database['read'],
  bans: DayBans,
  hostnameOf: (no: number) => string,
): Promise<readonly Table[]> => {
  const { servers, serversBefore, jails, countries, addresses } = bans
  const counted = new Set([...servers.keys(), ...serversBefore.keys()])
  const byServer = ranked(new Map([...counted].map(no => [no, servers.get(no) ?? 0])))
  const named = await jailNames(sql, jails.keys())
  const codes = await countryCodes(sql)
  const countryOf = (id: number): string => {
    const code = codes.get(id)
    return code === undefined ? 'Unknown' : (countryName(code) ?? code)
  }
  const best = (counts: ReadonlyMap<number, number>, nameOf: (id: number) => string) =>
    ranked(counts)
      .slice(0, top)
      .map(([id, n]) => [nameOf(id), String(n)])
  return [
    ...tableOf(
      'Servers',
      ['Server', 'Bans', 'Day before'],
      byServer.slice(0, mostNamed).map(([no, n]) => [hostnameOf(no), String(n), String(serversBefore.get(no) ?? 0)]),
      byServer.length,
    ),
    ...tableOf(
      'Jails',
      ['Jail', 'Bans'],
      best(jails, id => named.get(id) ?? ''),
      jails.size,
    ),
    ...tableOf('Countries', ['Country', 'Bans'], best(countries, countryOf), countries.size),
    ...tableOf(
      'Addresses',
      ['Address', 'Bans'],
      addresses.map(({ ip, prefix, n }) => [ipText(ip, prefix), String(n)]),
      addresses[0]?.addresses ?? 0,
    ),
  ]
}

/** What happened on the day before `date`, as the time zone counts days. */
export const summaryOf = async (needs: Needs, date: string, timeZone: string, at: number): Promise<Message> => {
  const { registry } = needs
  const sql = needs.db.read
  const told = dayBefore(date)
  const window: Window = { from: beginOf(told, timeZone), to: beginOf(date, timeZone) }
  const before: Window = { from: beginOf(dayBefore(told), timeZone), to: window.from }
  const bans = await readBans(needs, window, before)
  const failed = await failedCommands(sql, window, top)
  const whitelist = await whitelistChanges(sql, window)
  const [total, totalBefore] = [sumOf(bans.servers), sumOf(bans.serversBefore)]
  const hostnameOf = (no: number) => oneLine(registry.byNo(no)?.row.hostname ?? 'a removed server')
  const everywhere = registry.all()
  const offline = everywhere.filter(({ row }) => row.status === 'offline').map(({ row }) => oneLine(row.hostname))
  return {
    category: 'summary',
    level: offline.length > 0 || failed.total > 0 ? 'warning' : 'info',
    title: `Daily summary of ${told}`,
    text: `${plural(total, 'ban')}, ${changeOf(total, totalBefore)}.`,
    facts: [
      { name: 'Bans', value: number.format(total) },
      { name: 'Bans the day before', value: number.format(totalBefore) },
      { name: 'Addresses', value: number.format(bans.addresses[0]?.addresses ?? 0) },
      { name: 'Failed commands', value: number.format(failed.total) },
      { name: 'Whitelist', value: `${whitelist.added} added, ${whitelist.removed} removed` },
      { name: 'Servers offline now', value: `${offline.length} of ${everywhere.length}: ${offlineText(offline)}` },
    ],
    tables: [
      ...(await banTables(sql, bans, hostnameOf)),
      ...tableOf(
        'Failed commands',
        ['Command', 'Server', 'How'],
        failed.rows.map(({ type, server_no, status }) => [
          type,
          hostnameOf(server_no),
          status === 'timeout' ? 'no answer' : 'failed',
        ]),
        failed.total,
      ),
    ],
    path: '/',
    label: 'Open the overview',
    at,
  }
}
