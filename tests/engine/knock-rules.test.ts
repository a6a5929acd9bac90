import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Sequence } from '../../packages/agent/src/knock/model.ts'
import { parseKnock } from '../../packages/agent/src/knock/model.ts'
import { markOf, script } from '../../packages/agent/src/knock/rules.ts'
import type { Kind } from '../../packages/agent/src/knock/rules.ts'
import { describeHosts, launcherFile } from './host.ts'

/* Whatever sequences there may be: nftables takes their rules, also over the rules of any others. */
describeHosts('rules of made-up sequences', () => {
  const namespace = `skr${randomBytes(3).toString('hex')}`
  const seed = Number(process.env['KNOCK_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  beforeAll(() => void execFileSync('ip', ['netns', 'add', namespace]))
  afterAll(() => void execFileSync('ip', ['netns', 'del', namespace]))

  const nft = (args: readonly string[], input?: string) =>
    spawnSync('ip', ['netns', 'exec', namespace, 'nft', ...args], { input: input ?? '', encoding: 'utf8' })

  /** A small generator of numbers, so that a failure can be had again. */
  let state = seed
  const below = (n: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
  const one = <T>(...of: readonly T[]): T => of[below(of.length)] as T
  const portsOf = (): number[] => {
    const ports: number[] = []
    const count = 2 + below(9)
    while (ports.length < count) {
      const port = one(1, 65_535, 1 + below(65_535), ports[0] ?? 7000)
      if (port !== ports.at(-1)) ports.push(port)
    }
    return ports
  }
  const madeUp = (): Sequence[] => {
    const raw = Array.from({ length: 1 + below(6) }, () => ({
      id: one(1, 2, 3, 4, 5, 2 ** 28, 1 + below(1000)),
      revision: below(9),
      protected_port: one(22, 443, 1 + below(65_535)),
      knock_ports: portsOf(),
      protocol: one('tcp', 'udp'),
      timeout: one(1, 30, 86_400),
      knock_timeout: one(1, 10, 300),
      max_attempts: one(1, 2, 5, 100),
      block_duration: one(1, 3600, 31_557_600),
    }))
    return [...parseKnock({ sequences: raw }).sequences]
  }

  it('load over one another, with every parameter at its bounds', () => {
    let present: string[] = []
    for (let i = 0; i < 60; i += 1) {
      const sequences = madeUp()
      if (sequences.length === 0) continue
      const text = script(sequences, i % 3 === 0 ? ['192.0.2.0/24', '2001:db8::1', '0.0.0.0/8'] : null, {
        reset: one(true, false),
        fresh: below(5) === 0,
        present,
      })
      const checked = nft(['-c', '-f', '-'], text)
      const loaded = nft(['-f', '-'], text)
      expect(
        `${checked.status} ${loaded.status} ${checked.stderr}${loaded.stderr}`,
        `KNOCK_SEED=${seed}\n${text}`,
      ).toBe('0 0 ')
      const { stdout } = nft(['list', 'table', 'inet', 'stockade_knock'])
      present = [...stdout.matchAll(/^\t(?:set|chain) (\S+) \{/gm)].map(([, name]) => name ?? '')
      const ids = new Set([...stdout.matchAll(/\b[kc](\d+)_/g)].map(([, id]) => Number(id)))
      expect([...ids].sort((a, b) => a - b)).toEqual(sequences.map(({ id }) => id).sort((a, b) => a - b))
    }
  })

  interface Reading {
    seen: { sequence: number; kind: string; ip: string; count: number; expires: number }[] | null
    entrance: string | null
  }

  const read = (): { bySocket: Reading; byProgram: Reading } => {
    const reader = [
      '/usr/bin/python3',
      '-I',
      launcherFile,
      process.execPath,
      join(import.meta.dirname, 'knock-reader.ts'),
    ]
    const text = execFileSync('ip', ['netns', 'exec', namespace, ...reader], { encoding: 'utf8' })
    return JSON.parse(text) as { bySocket: Reading; byProgram: Reading }
  }

  /** The addresses in order and without the seconds left, which pass between two readings. */
  const addressesIn = ({ seen }: Reading): string[] =>
    (seen ?? []).map(({ sequence, kind, ip, count }) => `${sequence} ${kind} ${ip} ${count}`).sort()

  it('are read over the netlink socket as the nft program reads them', () => {
    nft(['delete', 'table', 'inet', 'stockade_knock'])
    expect(read()).toEqual({ bySocket: { seen: null, entrance: '' }, byProgram: { seen: null, entrance: null } })

    const sequences = madeUp()
    expect(nft(['-f', '-'], script(sequences, [], { reset: true, fresh: false, present: [] })).status).toBe(0)
    const id = sequences[0]?.id ?? 0
    const element = (ip: string, kind: Kind, seconds: number, packets: number): string =>
      `{ ${ip} . ${markOf(id, kind)} counter packets ${packets} bytes 0 timeout ${seconds}s }`
    const lines = [
      `done_4 ${element('192.0.2.7', 'success', 80_000, 1)}`,
      `told_4 ${element('198.51.100.255', 'wrong', 3600, 70_000)}`,
      `told_6 ${element('2001:db8::7', 'block', 3600, 1)}`,
      ...Array.from(
        { length: 4000 },
        (_, i) => `done_6 ${element(`2001:db8::${(i + 1).toString(16)}:1`, 'hit', 3600, i)}`,
      ),
    ]
    const filled = nft(['-f', '-'], lines.map(line => `add element inet stockade_knock ${line}\n`).join(''))
    expect(filled.stderr).toBe('')

    const { bySocket, byProgram } = read()
    expect(addressesIn(bySocket)).toHaveLength(4003)
    expect(addressesIn(bySocket)).toEqual(addressesIn(byProgram))
    expect(addressesIn(bySocket)).toContain(`${id} wrong 198.51.100.255 70000`)
    const seconds = (bySocket.seen ?? []).find(({ ip }) => ip === '192.0.2.7')?.expires ?? 0
    expect(seconds).toBeGreaterThan(79_000)
    expect(seconds).toBeLessThanOrEqual(80_000)

    // Another mark after a change of the chain, and the same one without.
    expect(read().bySocket.entrance).toBe(bySocket.entrance)
    nft(['insert', 'rule', 'inet', 'stockade_knock', 'pre', 'accept'])
    expect(read().bySocket.entrance).not.toBe(bySocket.entrance)
    nft(['flush', 'chain', 'inet', 'stockade_knock', 'pre'])
    expect(read().bySocket.entrance).toBe('')
  })
})
