import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ban, modelHost } from '../../test/model-host.ts'
import { digestOf, endsOf } from './fleet-store.ts'
import { placeOf } from './table.ts'

let directory = ''
beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-fleet-'))
})
afterEach(() => fs.rmSync(directory, { recursive: true }))
const host = (clock: { now: number }) => modelHost(directory, clock)

describe('fleet bans on a host without a shield', () => {
  const single = '198.51.100.7'
  const short = '2001:db8::7'
  const range = '203.0.113.0/28'
  /** A host without a shield whose fail2ban holds a fleet ban. */
  const holding = async () => {
    const made = host({ now: 1_000_000 })
    made.model.fail(true)
    const first = await made.start()
    made.server.set(new Map([[1, ban(1, single)]]), [1])
    await first.fleet.take(made.server.desired())
    return { ...made, first }
  }

  it('are held by fail2ban, one address at a time, and end with it', async () => {
    const clock = { now: 1_000_000 }
    const { model, server, fail2ban, start } = host(clock)
    model.fail(true)
    const { fleet, jail } = await start()
    const bans = new Map(
      [ban(1, single), ban(2, short, clock.now + 60_000), ban(3, range)].map(each => [each.id, each]),
    )
    server.set(bans, [1, 2, 3])
    await fleet.take(server.desired())
    expect([...fail2ban.banned].sort()).toEqual([single, short].sort())
    expect(jail.holds('stockade', single)).toBe(true)
    expect(jail.holds('sshd', single)).toBe(false)
    expect(await fleet.report()).toMatchObject({
      held: 2,
      digest: digestOf(endsOf([...bans.values()].slice(0, 2))),
      refused: [{ id: 3, reason: 'fail2ban 1.0.2 cannot ban ranges; 1.1.1 or newer can' }],
      notCovered: null,
      fallback: 'fail2ban holds it, since there is no shield: the shield is full',
    })
    clock.now += 61_000
    expect(await jail.follow(true)).toBe(true)
    expect([...fail2ban.banned]).toEqual([single])
  })

  it('come back after somebody lifted them, and leave bans of the host alone', async () => {
    const { first, server, fail2ban } = await holding()
    const { fleet, jail } = first
    fail2ban.banned.clear()
    await jail.follow(true)
    expect(fail2ban.banned.has(single)).toBe(true)
    fail2ban.world.reported.add(single)
    server.set(new Map(), [1])
    await fleet.take(server.desired())
    expect(fail2ban.banned.has(single)).toBe(true)
    expect(jail.holds('stockade', single)).toBe(false)
  })

  it('wait for a fail2ban that is down, also beyond a restart of the agent', async () => {
    const { first, server, fail2ban, start } = await holding()
    fail2ban.world.isDown = true
    server.set(new Map([[2, ban(2, short)]]), [1, 2])
    await first.fleet.take(server.desired())
    expect(await first.fleet.report()).toMatchObject({
      refused: [{ id: 2, reason: 'fail2ban did not take it: fail2ban is gone' }],
    })
    const { jail } = await start()
    await expect(jail.follow(true)).rejects.toThrow('fail2ban is gone')
    fail2ban.world.isDown = false
    await jail.follow(true)
    expect([...fail2ban.banned]).toEqual([short])
  })

  it('leave fail2ban for the kernel when the shield works', async () => {
    const { model, fail2ban, start } = await holding()
    model.fail(false)
    const { fleet, jail } = await start()
    await jail.follow(true)
    expect([...fail2ban.banned]).toEqual([])
    expect([...model.all().keys()]).toEqual([placeOf(single)])
    expect(await fleet.report()).toBeTruthy()
  })
})
