import { afterAll, beforeAll } from 'vitest'
import { aPlaceWithHost } from './talk.ts'
import type { WithHost } from './talk.ts'
import { templatesClaims } from './templates.ts'
import { whitelistClaims } from './whitelist.ts'

/* What belongs to the whole fleet: one server for both sections, since starting one costs more than asking it. */

let given: WithHost
beforeAll(async () => {
  given = await aPlaceWithHost()
})
afterAll(() => given.place.close())

whitelistClaims(() => given)
templatesClaims(() => given)
