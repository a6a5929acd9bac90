import { afterAll, beforeAll } from 'vitest'
import { portknockClaims } from './portknock.ts'
import { siemClaims } from './siem.ts'
import { aPlaceWithHost } from './talk.ts'
import type { WithHost } from './talk.ts'

/* What needs a Pro licence: one server for both sections, since starting one costs more than asking it. */

let given: WithHost
beforeAll(async () => {
  given = await aPlaceWithHost()
})
afterAll(() => given.place.close())

portknockClaims(() => given)
siemClaims(() => given)
