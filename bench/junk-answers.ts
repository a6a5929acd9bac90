import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Client } from '@stockade/client'
import { say } from './report.ts'

/* What sources of blocklists may answer, made to be expensive, and looks at a long list. */

/** Milliseconds that the event loop may stand still, and MiB by which the process may grow. */
const goals = { stall: 100, growth: 150 } as const

const rows = (count: number, row: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => row(n)).join('\n')
/** The n-th of networks of /64 that have gaps between them. */
const network = (n: number): string => `2001:db8:${(n >> 15).toString(16)}:${((n & 0x7fff) * 2).toString(16)}`
const longList = rows(199_000, n => `${network(n)}::7`)
const million = 1024 * 1024
const answers: Readonly<Record<string, () => string>> = {
  'ranges of IPv6 that are many entries': () =>
    rows(130_000, n => `${network(n)}::1-${network(n)}:ffff:ffff:ffff:fffe`),
  'ranges of IPv4 that are many entries': () => {
    const start = (n: number) => `${8 + (n >> 13)}.${(n >> 5) & 255}.${(n & 31) * 8}`
    return rows(200_000, n => `${start(n)}.1-${start(n)}.6`)
  },
  'JSON of objects': () => `[${'{},'.repeat(15 * million)}{}]`,
  'JSON of numbers': () => `[${'1,'.repeat(11 * million)}1]`,
  'deep JSON': () => '['.repeat(23 * million),
  'JSON of as many values as may be': () => `[${rows(199_000, n => `{"cidr":"${network(n)}::7","a":1,"b":2},`)}{}]`,
  'lines of spaces': () => `1.2.3.4 ${' '.repeat(4080)}x\n`.repeat(5800),
  'lines of commas': () => `1.2.3.4${','.repeat(4080)}\n`.repeat(5800),
  'doubles of IPv6': () => `${network(1)}::7\n`.repeat(490_000),
  'short lines': () => 'x\n'.repeat(999_000),
  'a long list of IPv6': () => longList,
  'a bomb': () => ' '.repeat(400 * million),
}

const settle = () => new Promise(resolve => setTimeout(resolve, 100))
const residentOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

/** Prints the stall and the growth of each; false where one is beyond its goal. */
export const measureAnswers = async (server: {
  readonly pid: number
  readonly admin: Client
  /** The longest wait for `/health` since the last question. */
  readonly takeStall: () => number
}): Promise<boolean> => {
  const { pid, admin, takeStall } = server
  let body: Buffer = Buffer.alloc(0)
  const source = createServer((_, reply) => reply.writeHead(200, { 'content-type': 'text/plain' }).end(body))
  await new Promise<void>(resolve => source.listen(0, '127.0.0.1', resolve))
  const from = { kind: 'url' as const, url: `http://127.0.0.1:${(source.address() as AddressInfo).port}/` }
  let isHeld = true
  const once = async (work: () => Promise<unknown>) => {
    // To make the answer took this process's own time.
    await settle()
    const before = residentOf(pid)
    let most = before
    const timer = setInterval(() => (most = Math.max(most, residentOf(pid))), 20)
    takeStall()
    const since = performance.now()
    const said = await work().then(
      () => 'taken',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    const seconds = (performance.now() - since) / 1000
    await settle()
    clearInterval(timer)
    const [stall, growth] = [takeStall(), most - before]
    return { said, seconds, stall, growth, isWithin: stall <= goals.stall && growth <= goals.growth }
  }
  const measured = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    let { said, seconds, stall, growth, isWithin } = await once(work)
    // Other programs take time, too: a stall of the server's own comes again.
    for (let tries = 1; tries < 3 && !isWithin; tries++) ({ said, seconds, stall, growth, isWithin } = await once(work))
    isHeld &&= isWithin
    say(
      `${name}: stall ${stall.toFixed(0)} ms, growth ${growth.toFixed(0)} MiB, ${seconds.toFixed(1)} s${isWithin ? '' : ', MISSED'} (${said})`,
    )
  }
  try {
    for (const [name, textOf] of Object.entries(answers)) {
      body = gzipSync(textOf())
      await measured(name, () => admin.call('POST /lists/preview', { body: { source: from, allow_private: true } }))
    }
    body = gzipSync(longList)
    const { id } = await admin.call('POST /lists', {
      body: { name: 'junk', source: from, target: { all: true }, max_entries: 200_000, allow_private: true },
    })
    const params = { id }
    await measured('a list of 199,000 entries', () => admin.call('POST /lists/{id}/refresh', { params, body: {} }))
    const lookUp = () => admin.call('GET /bans/lookup/{ip}', { params: { ip: '2001:db9::1' } })
    await measured('the first look-up', lookUp)
    await measured('20 look-ups at once', () => Promise.all(Array.from({ length: 20 }, lookUp)))
    const search = (text: string) => admin.call('GET /lists/{id}/entries', { params, query: { search: text } })
    await measured('20 searches of an address', () =>
      Promise.all(Array.from({ length: 20 }, () => search('2001:db8:1::7'))),
    )
    await measured('20 searches of a text', () => Promise.all(Array.from({ length: 20 }, () => search('2001:db8:1:'))))
    await admin.call('DELETE /lists/{id}', { params })
  } finally {
    source.closeAllConnections()
    source.close()
  }
  say(`outside answers: stall ${goals.stall} ms, growth ${goals.growth} MiB: ${isHeld ? 'held' : 'MISSED'}`)
  return isHeld
}
