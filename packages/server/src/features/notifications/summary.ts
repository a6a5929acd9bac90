import { day } from '../../core/clock.ts'
import { ipText } from '../../core/ip.ts'
import { beginOf } from '../../core/wall.ts'
import type { Database } from '../../db/database.ts'
import { countryCodes, jailNames } from '../bans/stats.store.ts'
import { countryName } from '../ipinfo/ipinfo.service.ts'
import type { Registry } from '../servers/registry.ts'
import { oneLine } from './message.ts'
import type { Message } from './message.ts'
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
const plural = (n: number, one: string, many = `${one}s`) => `${number.format(n)} ${n === 1 ? one : many}`

/** What happened on the day before `date`, as the time zone counts days. */
export const summaryOf = async (
  needs: { db: Database; registry: Pick<Registry, 'all' | 'byNo'> },
  date: string,
  timeZone: string,
  at: number,
): Promise<Message> => {
  const { registry } = needs
  const sql = needs.db.read
  const told = dayBefore(date)
  const window: Window = { from: beginOf(told, timeZone), to: beginOf(date, timeZone) }
  const before: Window = { from: beginOf(dayBefore(told), timeZone), to: window.from }
  const servers = await countIn(sql, 'server', window)
  const serversBefore = await countIn(sql, 'server', before)
  const jails = await countIn(sql, 'jail', window)
  const countries = await countIn(sql, 'country', window)
  const addresses = await topAddresses(sql, window, top)
  const failed = await failedCommands(sql, window, top)
  const whitelist = await whitelistChanges(sql, window)
  const named = await jailNames(sql, jails.keys())
  const codes = await countryCodes(sql)
  const total = sumOf(servers)
  const hostnameOf = (no: number) => oneLine(registry.byNo(no)?.row.hostname ?? 'a removed server')
  const everywhere = registry.all()
  const offline = everywhere.filter(({ row }) => row.status === 'offline').map(({ row }) => oneLine(row.hostname))
  const seen = addresses[0]?.addresses ?? 0
  const offlineText =
    offline.length === 0
      ? 'none'
      : `${offline.slice(0, 20).join(', ')}${offline.length > 20 ? ` and ${offline.length - 20} more` : ''}`
  const tableOf = (title: string, columns: readonly string[], rows: readonly (readonly string[])[], all: number) =>
    all === 0 ? [] : [{ title, columns, rows, total: all }]
  const counted = new Set([...servers.keys(), ...serversBefore.keys()])
  const byServer = ranked(new Map([...counted].map(no => [no, servers.get(no) ?? 0])))
  return {
    category: 'summary',
    level: offline.length > 0 || failed.total > 0 ? 'warning' : 'info',
    title: `Daily summary of ${told}`,
    text: `${plural(total, 'ban')}, ${changeOf(total, sumOf(serversBefore))}.`,
    facts: [
      { name: 'Bans', value: number.format(total) },
      { name: 'Bans the day before', value: number.format(sumOf(serversBefore)) },
      { name: 'Addresses', value: number.format(seen) },
      { name: 'Failed commands', value: number.format(failed.total) },
      { name: 'Whitelist', value: `${whitelist.added} added, ${whitelist.removed} removed` },
      { name: 'Servers offline now', value: `${offline.length} of ${everywhere.length}: ${offlineText}` },
    ],
    tables: [
      ...tableOf(
        'Servers',
        ['Server', 'Bans', 'Day before'],
        byServer.slice(0, 20).map(([no, n]) => [hostnameOf(no), String(n), String(serversBefore.get(no) ?? 0)]),
        byServer.length,
      ),
      ...tableOf(
        'Jails',
        ['Jail', 'Bans'],
        ranked(jails)
          .slice(0, top)
          .map(([id, n]) => [named.get(id) ?? '', String(n)]),
        jails.size,
      ),
      ...tableOf(
        'Countries',
        ['Country', 'Bans'],
        ranked(countries)
          .slice(0, top)
          .map(([id, n]) => {
            const code = codes.get(id)
            return [code === undefined ? 'Unknown' : (countryName(code) ?? code), String(n)]
          }),
        countries.size,
      ),
      ...tableOf(
        'Addresses',
        ['Address', 'Bans'],
        addresses.map(({ ip, prefix, n }) => [ipText(ip, prefix), String(n)]),
        seen,
      ),
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
