import { countryCodes, jailNames } from './bans.ts'
import type { Load } from './load.ts'
import { coresApart } from './programs.ts'
import type { Seeded } from './seed.ts'

/* What is read from many bans: pages of the list, attackers, statistics, and the look-up of an address. */

const day = 86_400_000
const iso = (at: number) => new Date(at).toISOString()

/** Each single filter of the list, with several values each; a page of 50. */
const filters = (seeded: Seeded, addresses: readonly string[]): Record<string, string[]> => {
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
const groupings = (seeded: Seeded, addresses: readonly string[]): Record<string, string[]> => {
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
/** Waits until attackers come from columns: a search adds to the count of long reads, columns do not. */
const columnsLoaded = async (port: number, headers: Record<string, string>) => {
  const scans = async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text()
    return /stockade_search_seconds_count\{outcome="answered"\} (\d+)/.exec(text)?.[1] ?? '0'
  }
  for (;;) {
    const before = await scans()
    await (await fetch(`http://127.0.0.1:${port}/api/v1/bans/attackers`, { headers })).text()
    if ((await scans()) === before) return
    await new Promise(resolve => setTimeout(resolve, 250))
  }
}
/** The names of what was measured, by kind. */
export interface ReadNames {
  readonly pages: readonly string[]
  readonly attackers: readonly string[]
  readonly statistics: readonly string[]
}

/** Measures each kind of read in turn, `rounds` times, at most 2 s each, with one caller. */
export const measureReads = async (
  seeded: Seeded,
  { port, pid }: { readonly port: number; readonly pid: number },
  setting: { readonly rounds: number; readonly seconds: number },
  note: (name: string, load: Load) => Promise<void>,
): Promise<ReadNames> => {
  const url = `http://127.0.0.1:${port}/api/v1/bans?limit=20&page=`
  const headers = { authorization: `Bearer ${seeded.readKey}` }
  const known: string[] = []
  for (const page of [1, 50, 500]) {
    const reply = (await (await fetch(url + page, { headers })).json()) as { bans: { ip: string }[] }
    known.push(...reply.bans.map(({ ip }) => ip))
  }
  const paths = (base: string, queries: readonly string[]) => queries.map(query => `/api/v1${base}${query}`)
  const pages = Object.entries(filters(seeded, known)).map(
    ([name, queries]) => [`page ${name}`, paths('/bans?', queries)] as const,
  )
  await columnsLoaded(port, headers)
  const attackers = Object.entries(groupings(seeded, known)).map(
    ([name, queries]) => [`attackers ${name}`, paths('/bans/attackers?', queries)] as const,
  )
  const periods = ['day', 'week', 'month']
  const statistics = [
    ...periods.map(period => [`statistics of a ${period}`, paths('/bans/stats?period=', [period])] as const),
    ...periods.map(
      period =>
        [
          `statistics of a ${period}, one server`,
          seeded.hostIds.map(id => `/api/v1/servers/${id}/stats?period=${period}`),
        ] as const,
    ),
    ['look-up of an address', paths('/bans/lookup/', known)] as const,
  ]
  for (let round = 0; round < setting.rounds; round++)
    for (const [name, wanted] of [...pages, ...attackers, ...statistics])
      await note(name, {
        port,
        pid,
        seconds: Math.min(2, setting.seconds),
        warmUp: 0.3,
        connections: 1,
        method: 'GET',
        body: null,
        paths: wanted,
        tokens: [seeded.readKey],
        expect: 200,
        spin: coresApart,
      })
  const namesOf = (rows: readonly (readonly [string, readonly string[]])[]) => rows.map(([name]) => name)
  return { pages: namesOf(pages), attackers: namesOf(attackers), statistics: namesOf(statistics) }
}
