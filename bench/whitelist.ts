import { BlockList } from 'node:net'
import { request, Agent } from 'node:http'
import { gzipSync } from 'node:zlib'
import { createHash } from 'node:crypto'
import { parseIp, parseRange } from '../packages/server/src/core/ip.ts'
import type { IpRange } from '../packages/server/src/core/ip.ts'
import { bytesOf, openIntervals, packEntries } from '../packages/server/src/features/whitelist/intervals.ts'
import { aHost, startServer } from '@stockade/server/testing'
import { median, say } from './report.ts'

/*
 * `npm run bench -- whitelist`: what a long whitelist costs. Times are medians; look at the ratios, the rest is this machine's.
 */

const lines = (n: number): string[] =>
  Array.from({ length: n }, (_, index) => {
    // Spread over the space, in no order, a tenth of them ranges and a fifth of them IPv6.
    const bytes = createHash('sha256').update(String(index)).digest()
    if (index % 5 === 0) {
      const groups = Array.from({ length: 6 }, (_, group) => bytes.readUInt16BE(group * 2).toString(16))
      return `2001:db8:${groups.join(':')}${index % 50 === 0 ? '/64' : ''}`
    }
    return `${(bytes[0] ?? 0) % 223}.${bytes[1] ?? 0}.${bytes[2] ?? 0}.${bytes[3] ?? 0}${index % 10 === 1 ? '/28' : ''}`
  })
const must = (range: IpRange | null): IpRange => {
  if (!range) throw new Error('this is no address')
  return range
}
const entriesOf = (n: number) => {
  const ranges = new Map(lines(n).map(line => [must(parseRange(line)).text, must(parseRange(line))]))
  return [...ranges.values()].map((range, index) => ({ id: index + 1, range }))
}
/** Microseconds a call, the median of some rounds. */
const time = (calls: number, work: (index: number) => void, rounds = 7): number =>
  median(
    Array.from({ length: rounds }, () => {
      const started = process.hrtime.bigint()
      for (let index = 0; index < calls; index++) work(index)
      return Number(process.hrtime.bigint() - started) / 1000 / calls
    }),
  )
const us = (value: number) => `${value < 10 ? value.toFixed(3) : Math.round(value).toLocaleString('en')} us`

const asked = Array.from({ length: 4096 }, (_, index) => {
  const bytes = createHash('sha256').update(`asked ${index}`).digest()
  return `${bytes[0] ?? 0}.${bytes[1] ?? 0}.${bytes[2] ?? 0}.${bytes[3] ?? 0}`
})
const parsed = asked.map(text => must(parseIp(text)))
const parsed6 = lines(4096)
  .filter(line => line.includes(':') && !line.includes('/'))
  .map(text => must(parseIp(text)))

const indexes = () => {
  say('Is this address whitelisted? (random IPv4 addresses, parsed before)')
  const times = new Map<number, number>()
  for (const n of [1000, 100_000]) {
    const entries = entriesOf(n)
    const started = performance.now()
    const packed = packEntries(entries)
    const took = performance.now() - started
    const index = openIntervals(packed)
    time(100_000, call => index.covering(parsed[call & 4095] ?? must(null)), 2)
    const each = time(200_000, call => index.covering(parsed[call & 4095] ?? must(null)))
    const six = time(200_000, call => index.covering(parsed6[call % parsed6.length] ?? must(null)))
    times.set(n, each)
    const list = new BlockList()
    for (const { range } of entries) {
      const family = range.bytes.length === 4 ? 'ipv4' : 'ipv6'
      const [address = ''] = range.text.split('/')
      if (range.prefix === null) list.addAddress(address, family)
      else list.addSubnet(address, range.prefix, family)
    }
    const naive = time(n === 1000 ? 2000 : 40, call => list.check(asked[call & 4095] ?? ''), 3)
    say(
      `  ${n.toLocaleString('en').padStart(7)} entries: ${us(each)}, IPv6 ${us(six)}; net.BlockList ${us(naive)}, ${Math.round(naive / each).toLocaleString('en')} times as long; packing ${Math.round(took)} ms, ${(bytesOf(packed) / 1e6).toFixed(1)} MB`,
    )
  }
  say(`  100,000 against 1,000 entries: ${((times.get(100_000) ?? 0) / (times.get(1000) ?? 1)).toFixed(2)} times`)
}

const served = async () => {
  const server = await startServer()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const admin = await server.setUp()
    const host = await aHost(server, admin.client)
    const content = lines(100_000).join('\n')
    const started = performance.now()
    const { imported } = await admin.client.call('POST /whitelist/import', { body: { content } })
    say()
    say(
      `Import of 100,000 lines (SQLite): ${Math.round(performance.now() - started)} ms, ${imported.toLocaleString('en')} new`,
    )

    const get = (headers: Record<string, string>) =>
      new Promise<{ status: number; bytes: number }>((resolve, reject) =>
        request(
          `${server.url}/api/v1/whitelist.txt`,
          { agent, headers: { authorization: `Bearer ${host.key}`, ...headers } },
          reply => {
            let bytes = 0
            reply.on('data', (part: Buffer) => (bytes += part.length))
            reply.on('end', () => resolve({ status: reply.statusCode ?? 0, bytes }))
          },
        )
          .on('error', reject)
          .end(),
      )
    const measure = async (name: string, headers: Record<string, string>, wanted: number) => {
      const times: number[] = []
      let size = 0
      for (let round = 0; round < 150; round++) {
        const before = process.hrtime.bigint()
        const { status, bytes } = await get(headers)
        times.push(Number(process.hrtime.bigint() - before) / 1000)
        size = bytes
        if (status !== wanted) throw new Error(`${name}: ${status}, not ${wanted}`)
      }
      return { time: median(times), size }
    }
    const reply = await fetch(`${server.url}/api/v1/whitelist.txt`, {
      headers: { authorization: `Bearer ${host.key}`, 'accept-encoding': 'identity' },
    })
    const text = await reply.text()
    const rows = text.split('\n')
    const rendered = time(5, () => Buffer.from(rows.map(row => `${row}\n`).join('')), 3)
    const zipped = time(2, () => gzipSync(text, { level: 1 }), 3)
    const plain = await measure('plain', { 'accept-encoding': 'identity' }, 200)
    const gzip = await measure('gzip', { 'accept-encoding': 'gzip' }, 200)
    const same = await measure('304', { 'if-none-match': reply.headers.get('etag') ?? '' }, 304)
    say(`GET /whitelist.txt of 100,000 entries, over one connection, client and server in one process`)
    say(`  making the text ${us(rendered)}, compressing it ${us(zipped)}: once for each change`)
    for (const [name, { time: took, size }] of [
      ['plain', plain] as const,
      ['gzip', gzip] as const,
      ['304', same] as const,
    ])
      say(
        `  ${name.padEnd(5)} ${us(took).padStart(9)}, ${size.toLocaleString('en')} bytes; making and compressing it anew: ${((rendered + zipped) / took).toFixed(0)} times as long`,
      )

    const waits: number[] = []
    const replies: number[] = []
    for (let round = 0; round < 10; round++) {
      const { version } = await host.client.call('GET /agent/state')
      const poll = host.client.call('GET /servers/{serverId}/commands/pending', {
        params: { serverId: host.id },
        query: { wait: 25, state: version },
      })
      await new Promise(resolve => setTimeout(resolve, 50))
      const before = performance.now()
      const made = admin.client.call('POST /whitelist', { body: { ip: '203.0.113.1' } })
      await Promise.all([
        poll.then(() => waits.push(performance.now() - before)),
        made.then(() => replies.push(performance.now() - before)),
      ])
      const { id } = await made
      await admin.client.call('DELETE /whitelist/{id}', { params: { id } })
    }
    say()
    say(
      `From POST /whitelist to the answer of a poll that waits: ${median(waits).toFixed(1)} ms; to its own 201: ${median(replies).toFixed(1)} ms`,
    )
  } finally {
    agent.destroy()
    await server.close()
  }
}

say(`Node ${process.versions.node}`)
indexes()
await served()
