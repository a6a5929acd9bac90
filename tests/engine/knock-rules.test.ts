import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Sequence } from '../../packages/agent/src/knock/model.ts'
import { parseKnock } from '../../packages/agent/src/knock/model.ts'
import { script } from '../../packages/agent/src/knock/rules.ts'
import { describeHosts } from './host.ts'

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
      block_duration: one(1, 3600, 31_536_000),
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
})
