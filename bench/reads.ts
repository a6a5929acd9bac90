import { countryCodes, jailNames } from './bans.ts'
import type { Note } from './measurements.ts'
import { coresApart } from './programs.ts'
import { head, print } from './report.ts'
import type { Line } from './report.ts'
import type { Fleet } from './seed.ts'

/* What is read from many bans: pages of the list, attackers, statistics, and the look-up of an address. */

const day = 86_400_000
const iso = (at: number) => new Date(at).toISOString()

/** Each single filter of the list, with several values each; a page of 50. */
export const filters = (seeded: Fleet, addresses: readonly string[]): Record<string, string[]> => {
  const now = Date.now()
  return {
    newest: [''],
    server: seeded.hostIds.map(id => `server_id=${id}`),
    jail: jailNames.map(jail => `jail=${jail}`),
    country: countryCodes.map(country => `country=${country}`),
    'address that has bans': addresses.map(ip => `ip=${ip}`),
    'address without bans': addresses.map((_, index) => `ip=203.0.113.${index}`),
    'range /24': addresses.map(ip => `ip=${encodeURIComponent(`${ip.replace(/\d+$/, '0')}/24`)}`),
    active: ['active=true'],
    'not active': ['active=false'],
    'from and to': Array.from({ length: 20 }, (_, index) => {
      const from = now - (2 + index) * day - index * 1_234_567
      return `from=${iso(from)}&to=${iso(from + day)}`
    }),
    from: Array.from({ length: 20 }, (_, index) => `from=${iso(now - (index + 1) * day - index * 1_234_567)}`),
    to: Array.from({ length: 20 }, (_, index) => `to=${iso(now - (index + 1) * day - index * 1_234_567)}`),
  }
}
/** The same bans grouped by address: each single filter, the windows of the dashboard, and each order. */
const groupings = (seeded: Fleet, addresses: readonly string[]): Record<string, string[]> => {
  const now = Date.now()
  const { server, jail, country, 'range /24': range, active, 'not active': over } = filters(seeded, addresses)
  const since = (days: number) => [`from=${iso(now - days * day)}`]
  return {
    all: [''],
    'all, second page': ['page=2'],
    'by bans': ['sort=bans'],
    'by first ban': ['sort=first&order=asc'],
    'by servers': ['sort=servers'],
    server: server ?? [],
    jail: jail ?? [],
    country: country ?? [],
    address: addresses.map(ip => `ip=${ip}`),
    'range /24': range ?? [],
    active: active ?? [],
    'not active': over ?? [],
    '24 hours': since(1),
    '7 days': since(7),
    '30 days': since(30),
    '7 days, by bans': since(7).map(query => `${query}&sort=bans`),
    'jail, 7 days, by servers': (jail ?? []).map(query => `${query}&${since(7).join('')}&sort=servers`),
    'page 100': ['page=100'],
  }
}
/** Waits until attackers come from columns: a search adds to the count of long reads, also where it takes too long; columns do not. */
const columnsLoaded = async (port: number, headers: Record<string, string>) => {
  const scans = async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text()
    return [...text.matchAll(/stockade_search_seconds_count\{.*\} (\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0)
  }
  for (;;) {
    const before = await scans()
    await (await fetch(`http://127.0.0.1:${port}/api/v1/bans/attackers`, { headers })).text()
    if ((await scans()) === before) return
    await new Promise(resolve => setTimeout(resolve, 250))
  }
}
/** How long the server may take to catch up, milliseconds. */
const longestWait = 600_000
/** Waits until the server has caught up with the events of the seeding. It has when 20 pages in a row take less than a second. */
export const caughtUp = async (port: number, headers: Record<string, string>) => {
  const givenUpAt = performance.now() + longestWait
  while (performance.now() < givenUpAt) {
    const began = performance.now()
    for (let page = 0; page < 20; page++) {
      const reply = await fetch(`http://127.0.0.1:${port}/api/v1/bans`, { headers })
      if (!reply.ok) throw new Error(`A page of bans was answered by ${reply.status}.`)
      await reply.text()
    }
    if (performance.now() - began < 1000) return
  }
  throw new Error(`The server did not catch up with the events of the seeding within ${longestWait / 1000} s.`)
}
/** What was measured, by kind. */
interface ByKind<T> {
  readonly pages: readonly T[]
  readonly attackers: readonly T[]
  readonly statistics: readonly T[]
}
export type ReadLines = ByKind<Line>

/** How long each kind of read is measured. */
export interface ReadSetting {
  readonly rounds: number
  readonly seconds: number
}

/** A kind of read: its name, and the paths that one caller asks for in turn. */
export type ReadKind = readonly [name: string, paths: readonly string[]]
/** A server that runs, as the load generator knows it. */
export interface ReadServer {
  readonly port: number
  readonly pid: number
}
export const pathsOf = (base: string, queries: readonly string[]): string[] =>
  queries.map(query => `/api/v1${base}${query}`)
const periods = ['day', 'week', 'month']
export const fleetStatistics: readonly ReadKind[] = periods.map(
  period => [`statistics of a ${period}`, pathsOf('/bans/stats?period=', [period])] as const,
)
export const serverStatistics = (serverIds: readonly string[]): ReadKind[] =>
  periods.map(period => [
    `statistics of a ${period}, one server`,
    serverIds.map(id => `/api/v1/servers/${id}/stats?period=${period}`),
  ])
export const lookUps = (addresses: readonly string[]): ReadKind => [
  'look-up of an address',
  pathsOf('/bans/lookup/', addresses),
]
/** Addresses of new bans and of older ones. */
export const addressesOfPages = async (port: number, headers: Record<string, string>): Promise<string[]> => {
  const found: string[] = []
  for (const page of [1, 50, 500]) {
    const reply = await fetch(`http://127.0.0.1:${port}/api/v1/bans?limit=20&page=${page}`, { headers })
    const { bans } = (await reply.json()) as { bans: { ip: string }[] }
    found.push(...bans.map(({ ip }) => ip))
  }
  return found
}
/** Measures each of these kinds in turn, for `seconds` each. */
export const measureKinds = async (
  kinds: readonly ReadKind[],
  { port, pid }: ReadServer,
  readKey: string,
  seconds: number,
  note: Note,
): Promise<void> => {
  for (const [name, paths] of kinds)
    await note(name, {
      port,
      pid,
      seconds,
      warmUp: 0.3,
      connections: 1,
      method: 'GET',
      body: null,
      paths,
      tokens: [readKey],
      expect: 200,
      spin: coresApart,
    })
}

/** Measures each kind of read in turn, `rounds` times, with one caller. */
export const measureReads = async (
  seeded: Fleet,
  server: ReadServer,
  { rounds, seconds }: ReadSetting,
  note: Note,
): Promise<ByKind<string>> => {
  const { port } = server
  const headers = { authorization: `Bearer ${seeded.readKey}` }
  const known = await addressesOfPages(port, headers)
  const kindsOf = (list: string, base: string, queries: Record<string, string[]>): ReadKind[] =>
    Object.entries(queries).map(([name, values]) => [`${list} ${name}`, pathsOf(base, values)])
  const pages = kindsOf('page', '/bans?', filters(seeded, known))
  await caughtUp(port, headers)
  await columnsLoaded(port, headers)
  const attackers = kindsOf('attackers', '/bans/attackers?', groupings(seeded, known))
  const statistics = [...fleetStatistics, ...serverStatistics(seeded.hostIds), lookUps(known)]
  for (let round = 0; round < rounds; round++)
    await measureKinds([...pages, ...attackers, ...statistics], server, seeded.readKey, seconds, note)
  const namesOf = (kinds: readonly ReadKind[]) => kinds.map(([name]) => name)
  return { pages: namesOf(pages), attackers: namesOf(attackers), statistics: namesOf(statistics) }
}

export const readLines = (names: ByKind<string>, lineOf: (name: string) => Line): ReadLines => {
  const all = (of: readonly string[]) => of.map(name => lineOf(name))
  return { pages: all(names.pages), attackers: all(names.attackers), statistics: all(names.statistics) }
}
/** Prints a table of each kind; `bans`: how many there were to read from. */
export const printReads = (lines: ReadLines, bans: number): void => {
  const many = bans.toLocaleString('en')
  head(`Page of 50 of ${many} bans, exact total`)
  for (const line of lines.pages) print(line)
  head(`Attackers of ${many} bans, a page of 50, exact totals`)
  for (const line of lines.attackers) print(line)
  head(`Statistics over ${many} bans`)
  for (const line of lines.statistics) print(line)
}
