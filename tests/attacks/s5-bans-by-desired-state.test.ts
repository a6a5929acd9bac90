import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { until } from '../engine/host.ts'
import { neighboursOf, passes, sources } from '../engine/neighbours.ts'
import type { Neighbours } from '../engine/neighbours.ts'
import { carriedOut } from '../engine/scenarios.ts'
import { onStage } from '../engine/stage.ts'
import { sealedBy } from './operator.ts'

/* A stolen server bans the Internet by what it wants hosts to hold: by lists and by fleet bans, which are no commands. */

/** All of IPv4 but what no list may hold, in 221 lines. */
const everything = Array.from({ length: 223 }, (_, n) => n + 1)
  .filter(n => n !== 127 && n !== 169)
  .map(n => `${n}.0.0.0/8\n`)
const listOf = (id: number, lines: readonly string[]) => ({
  id,
  version: id,
  mode: 'enforce' as const,
  text: lines.join(''),
})

onStage(
  'a stolen server that bans by desired state',
  [],
  scene => {
    let neighbours: Neighbours
    beforeAll(async () => void (neighbours = await neighboursOf(scene().host)))
    afterAll(() => neighbours?.end())
    const anna = generateKeyPairSync('ed25519')
    const told = () => scene().server.acks.at(-1)?.shield
    const about = (id: number) => told()?.lists?.find(list => list.id === id)
    const whyNot = (id: number) => told()?.bans.refused.find(ban => ban.id === id)?.reason

    it('bans nobody by a list of everything, and keeps a list that is allowed', async () => {
      const { server } = scene()
      server.lists([listOf(1, [`${sources.bad}\n`])])
      await until(() => about(1)?.held === 1, 'the list that is allowed')
      server.lists([listOf(1, [`${sources.bad}\n`]), listOf(2, everything)])
      await until(() => /"lists\.max_share"/.test(about(2)?.error ?? ''), 'the refusal of the list')
      expect(about(2)).toMatchObject({ held: 0 })
      expect(about(1)).toMatchObject({ held: 1, error: null })
      await passes(() => neighbours.reachesHost(sources.good), 'a neighbour')
      expect(await neighbours.reachesHost(sources.bad)).toBe(false)
    })

    it('gets no more by many lists than by one', async () => {
      const { server } = scene()
      const lists = Array.from({ length: 4 }, (_, n) => listOf(10 + n, everything.slice(n * 19, n * 19 + 19)))
      server.lists(lists)
      const isRefused = (id: number): boolean => /"lists\.max_share"/.test(about(id)?.error ?? '')
      await until(() => (about(10)?.held ?? 0) > 0 && isRefused(13), 'the first list, and the refusal of the last')
      const held = told()?.lists?.filter(list => list.held > 0) ?? []
      expect(held.map(({ id }) => id)).toEqual([10])
      await passes(() => neighbours.reachesHost(sources.good), 'a neighbour')
      server.lists([])
      await until(() => told()?.lists?.length === 0, 'the host without lists')
    })

    it('bans no wide range by a fleet ban until an operator approves it, and cannot bring it back', async () => {
      const { host, server, serverId } = scene()
      const operator = sealedBy(anna, 'anna')
      await host.agentCommand('trust', 'add', operator.key)
      server.fleetBans(['198.51.0.0/16', sources.other])
      await until(() => told()?.bans.held === 1, 'the narrow ban')
      expect(whyNot(1)).toBe('no operator approved on this host that the wide range 198.51.0.0/16 is banned')
      await passes(() => neighbours.reachesHost(sources.bad), 'a neighbour in the wide range')
      const params = { ip: '198.51.0.0/16' }
      expect(await carriedOut(scene(), 'approve-ban', params)).toMatchObject({ success: false })
      const seal = await operator.seal('approve-ban', params, serverId)
      expect(await carriedOut(scene(), 'approve-ban', { ...params, seal })).toMatchObject({ success: true })
      await until(() => told()?.bans.held === 2, 'the approved ban')
      expect(await neighbours.reachesHost(sources.bad)).toBe(false)
      server.fleetBans([])
      await until(() => told()?.bans.held === 0, 'the host without fleet bans')
      server.fleetBans(['198.51.0.0/16'])
      await until(() => whyNot(1) !== undefined, 'the refusal of what was lifted')
      await passes(() => neighbours.reachesHost(sources.bad), 'a neighbour after the ban')
    })

    it('bans of a list only what is narrow, until an operator approves a wide range', async () => {
      const { server, serverId } = scene()
      server.lists([listOf(30, ['198.51.0.0/17\n', `${sources.other}\n`])])
      await until(() => about(30)?.held === 1, 'the narrow part of the list')
      expect(about(30)?.error).toBe(
        'the host leaves out wide ranges of the list (1): no operator approved on this host that the wide range 198.51.0.0/17 is banned',
      )
      expect(await neighbours.reachesHost(sources.other)).toBe(false)
      await passes(() => neighbours.reachesHost(sources.bad), 'a neighbour in the wide range')
      const params = { ip: '198.51.0.0/17' }
      const seal = await sealedBy(anna, 'anna').seal('approve-ban', params, serverId)
      expect(await carriedOut(scene(), 'approve-ban', { ...params, seal })).toMatchObject({ success: true })
      await until(() => about(30)?.held === 2, 'the whole list')
      expect(about(30)?.error).toBeNull()
      expect(await neighbours.reachesHost(sources.bad)).toBe(false)
    })
  },
  { policy: { lists: { max_share: 0.1 } } },
)

/* A scene of its own: the agent keeps to its requests a minute. */
onStage('a stolen server that bans IPv4 by its forms in IPv6', [], scene => {
  it('bans no IPv4 by its forms in IPv6', async () => {
    const { server } = scene()
    const about = () => server.acks.at(-1)?.shield?.lists?.[0]
    const whyNot = () => server.acks.at(-1)?.shield?.bans.refused[0]?.reason ?? ''
    server.lists([listOf(40, ['64:ff9b::/96\n', `${sources.good6}\n`])])
    await until(() => about()?.held === 1, 'the rest of the list')
    expect(about()?.error).toMatch(/64:ff9b::\/96/)
    server.fleetBans(['64:ff9b::/96', sources.good6])
    await until(() => /stands for a range of IPv4 addresses/.test(whyNot()), 'the refusal of the fleet ban')
    expect(await carriedOut(scene(), 'ban-ip', { ip: '64:ff9b::c633:6400/120' })).toMatchObject({ success: false })
    expect(server.complaints).toEqual([])
  })
})
