import { expect, test } from 'vitest'
import { bounds } from '@stockade/contract'
import { raw } from '../../src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../src/testing/index.ts'
import { aUser, withTwoHosts } from '../../src/testing/scene.ts'

/* An operator of one server bans there until nobody else could ban on the fleet. */

let server: TestServer
let admin: Signed
let limited: Signed
let web: EnrolledHost

withTwoHosts({}, async scene => {
  ;({ server, admin, web } = scene)
  limited = await aUser(server, admin.client, 'limited', 'Operator', [web.id])
})

test('a limited account makes a tenth of the fleet bans, and lifting one makes room for one', async () => {
  const ban = (who: Signed, at: number) =>
    raw(server, 'POST', '/api/v1/fleet/bans', {
      token: who.token,
      body: { entry: `45.9.${Math.floor(at / 250)}.${at % 250}`, target: { server_ids: [web.id] } },
    })
  const share = bounds.fleetBans / 10
  let last = 0
  for (let at = 0; at < share; at++) {
    const { status, json } = await ban(limited, at)
    expect(status).toBe(201)
    last = (json as { id: number }).id
  }
  expect(await ban(limited, share)).toMatchObject({
    status: 409,
    json: { message: expect.stringContaining('a tenth of all') },
  })
  // A ban that stands is prolonged all the same.
  expect((await ban(limited, 0)).status).toBe(201)
  expect((await ban(admin, share)).status).toBe(201)
  await limited.client.call('DELETE /fleet/bans/{id}', { params: { id: last } })
  expect((await ban(limited, share + 1)).status).toBe(201)
})
