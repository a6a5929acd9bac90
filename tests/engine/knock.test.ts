import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createKnock, type Knock } from '../../packages/agent/src/knock/knock.ts'
import type { Entry } from '../../packages/agent/src/outbox.ts'
import { canonicalIp } from '../../packages/agent/src/ip.ts'
import { collapse } from '../../packages/agent/src/whitelist/addresses.ts'
import { describeHosts, loudly, sleep, until } from './host.ts'
import { neighbours, type Neighbours } from './knockers.ts'
import { sight } from '../../packages/server/src/testing/waiting.ts'

/* Port knocking against real nftables, with real packets: short times, and cases side by side from different addresses. */

const kinds = ([4, 6] as const).flatMap(family => (['tcp', 'udp'] as const).map(protocol => ({ family, protocol })))

const wish = (id: number, protectedPort: number, protocol: 'tcp' | 'udp', knockPorts: number[], more = {}) => ({
  id,
  revision: 1,
  protected_port: protectedPort,
  knock_ports: knockPorts,
  protocol,
  timeout: openSeconds,
  knock_timeout: 30,
  max_attempts: 3,
  block_duration: blockSeconds,
  ...more,
})
/** Times that end while a test waits for it leave a busy machine room. */
const [openSeconds, blockSeconds] = [10, 10]
/** One that is knocked by TCP, one by UDP, one with a port twice and no second try, one that nothing here disturbs, two for slow knocks. */
const TCP = wish(1, 2201, 'tcp', [7001, 8002, 9003])
const UDP = wish(2, 2202, 'udp', [7101, 8102, 9103])
const STRICT = wish(3, 2203, 'tcp', [7201, 8202, 7201, 9203], { max_attempts: 1, timeout: 600, block_duration: 600 })
const LONG = wish(4, 2204, 'tcp', [7301, 8302], { timeout: 600, block_duration: 600 })
const HASTY = {
  tcp: wish(6, 2206, 'tcp', [7601, 8602], { knock_timeout: 1 }),
  udp: wish(7, 2207, 'udp', [7701, 8702], { knock_timeout: 1 }),
}
const ALL = [TCP, UDP, STRICT, LONG, HASTY.tcp, HASTY.udp]
const sequenceOf = (protocol: 'tcp' | 'udp') => (protocol === 'tcp' ? TCP : UDP)

/** Somebody else's rules, which must not be touched. */
const OTHERS = `
table ip nat { chain prerouting { type nat hook prerouting priority dstnat; policy accept; tcp dport 9999 redirect to :2209; }; }
table inet filter { set friends { type ipv4_addr; elements = { 192.0.2.7 }; }; chain input { type filter hook input priority filter; policy accept; tcp dport 2299 drop; }; }
`

describeHosts('port knocking in the kernel', () => {
  let net: Neighbours
  let directory: string
  let untouched: string
  let version = 0
  let knock: Knock
  let answers: () => boolean | Promise<boolean>
  let allowed = collapse([])
  /** By how much the clock of the host is set wrong, milliseconds. */
  let ahead = 0
  const startedAt = Date.now()
  const told: Extract<Entry, { kind: 'knock' }>[] = []
  const warnings: string[] = []

  const build = (stateDirectory = directory, listening: readonly number[] = []): Knock =>
    createKnock({
      stateDirectory,
      serverId: 'a-server',
      nft: net.nft,
      connection: null,
      whyNotClose: () => null,
      onWanted: () => undefined,
      allowed: () => allowed,
      answers: async () => answers(),
      append: entries => {
        for (const entry of entries) if (entry.kind === 'knock') told.push(entry)
      },
      clockOffset: () => -ahead,
      changed: () => undefined,
      listening: protocol => new Set(protocol === 'tcp' ? listening : []),
      proofWithin: 1200,
      now: () => Date.now() + ahead,
      log: { info: () => undefined, debug: () => undefined, warn: text => void warnings.push(text) },
    })
  const state = (more: Record<string, unknown> = {}) => ({
    sequences: ALL,
    openings: [],
    blocked: [],
    cuts: [],
    ...more,
  })
  const take = (value: unknown, who = knock) => who.take(value, `s${(version += 1)}`, who.even())
  const inForce = (id: number, who = knock): boolean =>
    sight('port knocking', who.report())?.sequences.some(each => each.id === id && each.state === 'enforced') === true
  const events = (ip: string) =>
    sight('the events', told)
      .filter(({ knock }) => knock.ip === ip)
      .map(({ knock }) => knock)
  const statuses = (ip: string) => events(ip).map(({ status }) => status)
  const soon = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
  const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

  beforeAll(async () => {
    net = await neighbours([2201, 2202, 2203, 2204, 2205, 2206, 2207, 2209])
    directory = fs.mkdtempSync(join(tmpdir(), 'stockade-knock-'))
    fs.writeFileSync(join(directory, 'others.nft'), OTHERS)
    await net.rules('-f', join(directory, 'others.nft'))
    untouched = await net.rules('list', 'ruleset')
    answers = () => true
    knock = build()
    await knock.start()
    await take(state())
    await until(() => ALL.every(({ id }) => inForce(id)), 'the sequences to be in force')
  })
  afterAll(async () => {
    await knock?.stop()
    net?.close()
    if (directory) fs.rmSync(directory, { recursive: true, force: true })
  })

  const everyCase = async ({ family, protocol }: (typeof kinds)[number]): Promise<void> => {
    const { id, protected_port: port, knock_ports: ports } = sequenceOf(protocol)
    const [one = 0, two = 0, three = 0] = ports

    const [right, again, wrong, slow, banned, silent] = Array.from({ length: 6 }, () => net.client(family))
    if (!right || !again || !wrong || !slow || !banned || !silent) throw new Error('six addresses')
    const opened = async (): Promise<void> => {
      expect(await net.reaches(right, protocol, port)).toBe(false)
      await net.knock(right, protocol, ports)
      expect(await net.opens(right, protocol, port)).toBe(true)
      const held = await net.connect(right, port)
      const openings = await net.rules('list', 'set', 'inet', 'stockade_knock', `k${id}_open_${family}`)
      expect(openings).toContain(`${right} timeout ${openSeconds}s `)
      await until(() => events(right).length > 0, 'the event')
      // The flow of a UDP client is known to the kernel for a while; a new one has a new port.
      await until(async () => !(await net.reaches(right, protocol, port)), 'the end of the opening')
      expect(await held.echoes()).toBe(true)
      expect(events(right)).toMatchObject([{ status: 'success', reason: null, sequence_id: id }])
    }
    const knockedTwice = async (): Promise<void> => {
      for (const each of ports) await net.knock(again, protocol, [each, each], 0.01)
      expect(await net.opens(again, protocol, port)).toBe(true)
      await until(() => statuses(again).includes('success'), 'the event')
      expect(statuses(again)).toEqual(['success'])
    }
    const wrongOrder = async (): Promise<void> => {
      await net.knock(wrong, protocol, [one, three, two])
      expect(await net.reaches(wrong, protocol, port)).toBe(false)
      await until(() => events(wrong).length === 2, 'the events')
      expect(events(wrong)).toMatchObject([
        { status: 'failed', reason: 'wrong order' },
        { status: 'failed', reason: 'wrong order' },
      ])
    }
    const tooSlow = async (): Promise<void> => {
      const { protected_port: hastyPort, knock_ports: hastyPorts } = HASTY[protocol]
      await net.knock(slow, protocol, hastyPorts, 1.2)
      expect(await net.reaches(slow, protocol, hastyPort)).toBe(false)
      await until(() => events(slow).length > 0, 'the event')
      expect(events(slow)).toMatchObject([{ status: 'failed', reason: 'too slow' }])
    }
    const blockedOne = async (): Promise<void> => {
      for (let i = 0; i < 3; i += 1) await net.knock(banned, protocol, [three])
      const at = Date.now()
      await net.knock(banned, protocol, ports)
      expect(await net.reaches(banned, protocol, port)).toBe(false)
      await until(() => statuses(banned).length === 5, 'the events')
      expect(events(banned)).toMatchObject([
        { status: 'failed' },
        { status: 'failed' },
        { status: 'failed' },
        { status: 'blocked', reason: `blocked for ${blockSeconds} s after 3 failed attempts` },
        { status: 'blocked', reason: expect.stringMatching(/^knocked while blocked/) },
      ])
      await sleep(blockSeconds * 1000 + 100 - (Date.now() - at))
      await net.knock(banned, protocol, ports)
      expect(await net.opens(banned, protocol, port)).toBe(true)
    }
    const none = async (): Promise<void> => {
      for (let i = 0; i < 3; i += 1) {
        expect(await net.reaches(silent, protocol, port)).toBe(false)
        await sleep(300)
      }
    }
    await Promise.all([opened(), knockedTwice(), wrongOrder(), tooSlow(), blockedOne(), none()])
  }

  it('opens for who knocks right, for its time, and for nobody else', () => Promise.all(kinds.map(everyCase)))

  it('lets the whitelist pass, at once and without a knock, and no longer than it is on it', async () => {
    const guests = kinds.map(kind => ({ ...kind, friend: net.client(kind.family), mate: net.client(kind.family) }))
    const pass = (how: 'reaches' | 'opens'): Promise<boolean[]> =>
      Promise.all(
        guests.flatMap(({ friend, mate, protocol }) =>
          [friend, mate].map(from => net[how](from, protocol, sequenceOf(protocol).protected_port)),
        ),
      )
    expect(await pass('reaches')).toEqual(Array(8).fill(false))
    const before = allowed
    const network = (ip: string): string => canonicalIp(`${ip}/${ip.includes(':') ? 127 : 31}`) ?? ''
    allowed = collapse(guests.flatMap(({ friend, mate }) => [friend, network(mate)]))
    await knock.followWhitelist()
    expect(await pass('opens')).toEqual(Array(8).fill(true))
    allowed = before
    await knock.followWhitelist()
    expect(await pass('reaches')).toEqual(Array(8).fill(false))
  })

  it('a port that comes twice is no short cut, and one failure may be enough', async () => {
    const [hasty, right, wrong] = [net.client(4), net.client(4), net.client(6)]
    await net.knock(hasty, 'tcp', [7201, 8202, 7201])
    expect(await net.reaches(hasty, 'tcp', 2203)).toBe(false)
    await net.knock(right, 'tcp', [7201, 8202, 7201, 9203])
    expect(await net.opens(right, 'tcp', 2203)).toBe(true)
    await net.knock(wrong, 'tcp', [9203])
    await net.knock(wrong, 'tcp', [7201, 8202, 7201, 9203])
    expect(await net.reaches(wrong, 'tcp', 2203)).toBe(false)
    await until(() => statuses(wrong).length === 3 && events(right).length > 0, 'the events')
    expect(statuses(wrong)).toEqual(['failed', 'blocked', 'blocked'])
    expect(events(right)).toMatchObject([{ status: 'success', sequence_id: 3 }])
  })

  it('what the server opens, closes, cuts, blocks and unblocks is so when it is said', async () => {
    for (const family of [4, 6] as const) {
      const [guest, other] = [net.client(family), net.client(family)]
      const listed = { sequence_id: 4, ip: guest, expires_at: soon(60) }
      const began = Date.now()
      await take(state({ openings: [{ id: uuid(1), ...listed }] }))
      loudly(`an opening by order, IPv${family}: ${Date.now() - began} ms`)
      expect(knock.report()?.openings).toEqual([uuid(1)])
      const held = await net.connect(guest, 2204)
      await take(state())
      expect(knock.report()?.openings).toEqual([])
      expect(await net.reaches(guest, 'tcp', 2204)).toBe(false)
      expect(await held.echoes()).toBe(true)
      await take(state({ cuts: [listed] }))
      expect(await held.isSilent()).toBe(true)
      await take(state({ blocked: [{ ...listed, ip: other }] }))
      expect(await held.isSilent()).toBe(true)
      await net.knock(other, 'tcp', LONG.knock_ports)
      expect(await net.reaches(other, 'tcp', 2204)).toBe(false)
      await take(state())
      await net.knock(other, 'tcp', LONG.knock_ports)
      expect(await net.opens(other, 'tcp', 2204)).toBe(true)
    }
  })

  it('what opened by a knock stays until the server has heard of it and wants it closed', async () => {
    const guest = net.client(4)
    await net.knock(guest, 'tcp', LONG.knock_ports)
    await until(() => events(guest).length === 1, 'the event')
    await take(state())
    expect(await net.opens(guest, 'tcp', 2204)).toBe(true)
    knock.taken(events(guest).map(({ event_id }) => event_id))
    await sleep(5)
    await take(state())
    expect(await net.reaches(guest, 'tcp', 2204)).toBe(false)
  })

  it('survives an emptied firewall and a restart of the agent, and tells nothing twice', async () => {
    const [guest, banned] = [net.client(4), net.client(6)]
    await net.knock(guest, 'tcp', LONG.knock_ports)
    for (let i = 0; i < 3; i += 1) await net.knock(banned, 'tcp', [8302])
    await until(() => statuses(banned).includes('blocked') && events(guest).length === 1, 'the events')
    const told0 = told.length
    const firstHitAt = Date.now()
    await net.rules('flush', 'ruleset')
    await until(async () => (await net.rules('list', 'tables')).includes('stockade_knock'), 'the rules')
    const stillSo = async (): Promise<void> => {
      expect(await net.opens(guest, 'tcp', 2204)).toBe(true)
      expect(await net.reaches(net.client(4), 'tcp', 2204)).toBe(false)
      await net.knock(banned, 'tcp', LONG.knock_ports)
      expect(await net.reaches(banned, 'tcp', 2204)).toBe(false)
    }
    await stillSo()
    // A stranger empties the entrance but leaves the table.
    await net.rules('flush', 'chain', 'inet', 'stockade_knock', 'pre')
    await until(async () => !(await net.reaches(net.client(4), 'tcp', 2204)), 'the rules again')

    await until(() => statuses(banned).length >= 5, 'the event of the blocked knock')
    await knock.stop()
    const missed = net.client(4)
    await net.knock(missed, 'tcp', LONG.knock_ports)
    knock = build()
    await knock.start()
    await stillSo()
    expect(ALL.every(({ id }) => inForce(id))).toBe(true)
    await until(() => events(missed).length === 1, 'what happened while the agent was away')
    await sleep(800)
    expect(statuses(guest)).toEqual(['success'])
    // Knocks of an address that is blocked are one event in 30 s.
    const hits = statuses(banned).slice(4)
    expect(hits.length).toBeLessThanOrEqual(1 + Math.floor((Date.now() - firstHitAt) / 30_000))
    expect(statuses(banned)).toEqual(['failed', 'failed', 'failed', 'blocked', ...hits.map(() => 'blocked')])
    expect(told.slice(told0).every(({ knock }) => [banned, missed].includes(knock.ip))).toBe(true)
    expect(new Set(told.map(({ knock }) => knock.event_id)).size).toBe(told.length)
    // The table went while the agent was away, as after a restart of the host.
    await knock.stop()
    await net.rules('flush', 'ruleset')
    await net.rules('-f', join(directory, 'others.nft'))
    await net.rules('-f', join(directory, 'knock.nft'))
    expect(await net.reaches(guest, 'tcp', 2204)).toBe(false)
    await net.rules('delete', 'table', 'inet', 'stockade_knock')
    knock = build()
    await knock.start()
    await stillSo()
  })

  it.each([
    ['ahead', 3_600_000],
    ['back', -3_600_000],
  ])('a clock that is set %s by an hour closes nothing early and keeps nothing open longer', async (_, step) => {
    const long = wish(5, 2205, 'tcp', [7501, 8502], { timeout: 3000, block_duration: 3000 })
    const sequences = [...ALL, long]
    const [knocker, guest, banned, later] = [net.client(4), net.client(4), net.client(6), net.client(4)]
    const openings = [{ id: uuid(5), sequence_id: 5, ip: guest, expires_at: soon(3000) }]
    await take(state({ sequences, openings }))
    await until(() => inForce(5), 'the sequence')
    await net.knock(knocker, 'tcp', long.knock_ports)
    for (let i = 0; i < 3; i += 1) await net.knock(banned, 'tcp', [8502])
    await until(() => statuses(banned).includes('blocked') && events(knocker).length === 1, 'the events')

    const stillSo = async (): Promise<void> => {
      for (const ip of [knocker, guest]) expect(await net.opens(ip, 'tcp', 2205), ip).toBe(true)
      await net.knock(banned, 'tcp', long.knock_ports)
      expect(await net.reaches(banned, 'tcp', 2205)).toBe(false)
      expect(knock.report()?.openings).toEqual([uuid(5)])
      for (const name of ['k5_open_4', 'k5_block_6']) {
        const set = await net.rules('list', 'set', 'inet', 'stockade_knock', name)
        const left = [...set.matchAll(/expires (?:(\d+)m(?!s))?(?:(\d+)s)?/g)].map(
          ([, m, s]) => Number(m ?? 0) * 60 + Number(s ?? 0),
        )
        expect(left.length, set).toBeGreaterThan(0)
        for (const seconds of left) expect(seconds > 1500 && seconds <= 3000, set).toBe(true)
        expect(set).not.toMatch(/expires \d+[hd]/)
      }
    }
    const emptied = async (): Promise<void> => {
      await net.rules('delete', 'table', 'inet', 'stockade_knock')
      await until(async () => (await net.rules('list', 'tables')).includes('stockade_knock'), 'the rules')
    }
    ahead = step
    try {
      await emptied()
      await stillSo()
      await take(state({ sequences, openings, blocked: [{ ...openings[0], ip: banned }] }))
      await stillSo()
      // The clock is set once more while the agent is away.
      await knock.stop()
      ahead = step * 2
      await net.rules('delete', 'table', 'inet', 'stockade_knock')
      knock = build()
      await knock.start()
      await stillSo()
      ahead = 0
      await emptied()
      await stillSo()
      ahead = step
      await net.knock(later, 'tcp', long.knock_ports)
      await until(() => events(later).length === 1, 'the event')
      for (const { at, offset } of told) {
        expect(at + (offset ?? 0)).toBeGreaterThan(startedAt - 600_000)
        expect(at + (offset ?? 0)).toBeLessThan(Date.now() + 600_000)
      }
      await take(state())
    } finally {
      ahead = 0
    }
  })

  it('is taken back when the server does not answer with new rules in place; what held before holds', async () => {
    const fresh = wish(9, 2205, 'tcp', [7901, 8902])
    const { promise: answer, resolve: refuse } = Promise.withResolvers<boolean>()
    answers = () => answer
    const resident = await net.connect(net.client(6), 2205)
    await take(state({ sequences: [...ALL, fresh] }))
    expect(inForce(9)).toBe(false)
    expect(inForce(1)).toBe(true)
    // In place for as long as the server is asked.
    expect(await net.reaches(net.client(4), 'tcp', 2205)).toBe(false)
    refuse(false)
    await until(
      () => knock.report()?.sequences.some(({ id, state }) => id === 9 && state === 'failed') === true,
      'the failed sequence',
    )
    expect(knock.report()?.sequences.find(({ id }) => id === 9)?.error).toMatch(/server could not be reached/)
    expect(await net.opens(net.client(4), 'tcp', 2205)).toBe(true)
    expect(await net.reaches(net.client(4), 'tcp', 2204)).toBe(false)
    answers = () => true
    // Another state with the same sequence does not try it again; the same state once more does.
    await take(
      state({
        sequences: [...ALL, fresh],
        openings: [{ id: uuid(2), sequence_id: 4, ip: '192.0.2.1', expires_at: soon(9) }],
      }),
    )
    expect(knock.report()?.sequences.find(({ id }) => id === 9)?.state).toBe('failed')
    await take(state({ sequences: [...ALL, fresh] }))
    await take(state({ sequences: [...ALL, fresh] }))
    await until(() => inForce(9), 'the sequence')
    expect(await net.reaches(net.client(4), 'tcp', 2205)).toBe(false)
    // Whoever was there before the rules goes on, though connection tracking may not have seen the beginning.
    expect(await resident.echoes()).toBe(true)
    await take(state())
    expect(await net.opens(net.client(4), 'tcp', 2205)).toBe(true)
  })

  it('changed parameters hold from now on, and close nobody out', async () => {
    const guest = net.client(4)
    await net.knock(guest, 'tcp', LONG.knock_ports)
    expect(await net.opens(guest, 'tcp', 2204)).toBe(true)
    const changed = { ...LONG, revision: 2, timeout: 300, max_attempts: 1, knock_ports: [7301, 8302, 9303] }
    await take(state({ sequences: [TCP, UDP, STRICT, changed] }))
    await until(() => inForce(4), 'the changed sequence')
    expect(knock.report()?.sequences.find(({ id }) => id === 4)).toMatchObject({ revision: 2, state: 'enforced' })
    expect(await net.opens(guest, 'tcp', 2204)).toBe(true)
    const other = net.client(6)
    await net.knock(other, 'tcp', LONG.knock_ports)
    expect(await net.reaches(other, 'tcp', 2204)).toBe(false)
    await net.knock(other, 'tcp', changed.knock_ports)
    expect(await net.opens(other, 'tcp', 2204)).toBe(true)
    await take(state())
    await until(() => inForce(4), 'the changed sequence')
  })

  it('says which sequences cannot be, and keeps the others', async () => {
    await knock.stop()
    knock = build(directory, [7401])
    await knock.start()
    const odd = [
      wish(21, 2210, 'tcp', [7401, 8402]),
      wish(22, 0, 'tcp', [1, 2]),
      wish(23, 2211, 'tcp', [70_000, 2]),
      wish(24, 2211, 'tcp', ['1; flush ruleset' as never, 2]),
      wish(25, 2212, 'tcp', [5, 5]),
      wish(26, 2213, 'tcp', [5, 2201]),
      wish(27, 2214, 'tcp', [7001, 5]),
      wish(28, 2215, 'tcp', [5, 6], { timeout: '1; drop' }),
      'nonsense',
      null,
      wish(2 ** 40, 2216, 'tcp', [5, 6]),
    ]
    await take(
      state({
        sequences: [...ALL, ...odd],
        openings: [{ id: uuid(3), sequence_id: 4, ip: '1.2.3.4 } ; flush ruleset', expires_at: soon(9) }, 7],
        blocked: 'all',
      }),
    )
    const said = Object.fromEntries(
      knock.report()?.sequences.map(({ id, state, error }) => [id, `${state}: ${error}`]) ?? [],
    )
    expect(said).toEqual({
      1: 'enforced: null',
      2: 'enforced: null',
      3: 'enforced: null',
      4: 'enforced: null',
      6: 'enforced: null',
      7: 'enforced: null',
      21: 'failed: something on this host listens on its knock port tcp 7401',
      22: expect.stringMatching(/^failed: .*protected_port is not a port/),
      23: expect.stringMatching(/^failed: .*knock_ports are not two to ten ports/),
      24: expect.stringMatching(/^failed: .*knock_ports are not two to ten ports/),
      25: expect.stringMatching(/^failed: .*neighbouring/),
      26: 'failed: its knock port 2201 is the protected port of a sequence',
      27: 'failed: it shares a knock port with sequence 1',
      28: expect.stringMatching(/^failed: .*timeout is not/),
    })
    expect(knock.report()?.openings).toEqual([])
  })

  it('where nft is not there or not allowed, it says so', async () => {
    const elsewhere = fs.mkdtempSync(join(directory, 'other-'))
    for (const [nft, sentence] of [
      [['/nonexistent/nft'], /not installed/],
      [['setpriv', '--bounding-set', '-all', '--inh-caps', '-all', ...net.nft], /not allowed|nsenter|setns|exit code/i],
      [['sh', '-c', 'echo "netlink: Error: Operation not permitted (you must be root)" >&2; exit 1'], /CAP_NET_ADMIN/],
    ] as const) {
      const without = createKnock({
        stateDirectory: elsewhere,
        serverId: 'a-server',
        nft,
        connection: null,
        whyNotClose: () => null,
        onWanted: () => undefined,
        allowed: () => null,
        answers: () => Promise.resolve(true),
        append: () => undefined,
        clockOffset: () => 0,
        changed: () => undefined,
        now: Date.now,
        log: { info: () => undefined, debug: () => undefined, warn: () => undefined },
      })
      await take(state(), without)
      const [first] = without.report()?.sequences ?? []
      expect(first?.state).not.toBe('enforced')
      expect(first?.error).toMatch(sentence)
      await without.stop()
      fs.rmSync(join(elsewhere, 'knock.json'), { force: true })
    }
  })

  it('a crowd of strangers is a few events and a number', async () => {
    const before = told.length
    const crowd = Array.from({ length: 3000 }, (_, i) => `10.9.${i >> 8}.${i & 255} . ${4 * 8 + 1}`)
    const elements = crowd.map(each => `${each} counter packets 1 bytes 1 timeout 60s`).join(', ')
    fs.writeFileSync(join(directory, 'crowd.nft'), `add element inet stockade_knock told_4 { ${elements} }`)
    await net.rules('-f', join(directory, 'crowd.nft'))
    const isCounted = (): boolean =>
      told.some(({ knock }) => /; 2\d\d\d more addresses at the same time are not listed/.test(knock.reason ?? ''))
    await until(isCounted, 'the events')
    await sleep(1500)
    expect(told.length - before).toBeLessThan(400)
  })

  it('leaves the firewall byte for byte as it was', async () => {
    await take(state({ sequences: [] }))
    expect(await net.rules('list', 'ruleset')).toBe(untouched)
    expect(fs.existsSync(join(directory, 'knock.nft'))).toBe(false)
    await take(state())
    await until(() => inForce(1), 'the sequence')
    await take(state({ sequences: [TCP] }))
    const names = await net.rules('list', 'table', 'inet', 'stockade_knock')
    expect(names).toContain('k1_open_4')
    expect(names).not.toMatch(/k[23467]_|c[23467]_|chain p220[23467]/)
    await take(state({ sequences: [] }))
    expect(await net.rules('list', 'ruleset')).toBe(untouched)
  })
})
