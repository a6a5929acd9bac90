import { expect, it } from 'vitest'
import { banEventId, knockEventId, unbanEventId } from '../src/event-id.ts'

/** Made with Python's hashlib and uuid. */
const serverId = '0192f0c1-2d3e-7a4b-8c5d-6e7f80910a1b'

it('the ids are those of the reference', () => {
  expect(banEventId(serverId, 'sshd', '203.0.113.7', 1795250132)).toBe('01a1fd3f-1420-866f-9687-b1be90114131')
  expect(unbanEventId(serverId, 'sshd', '203.0.113.7', 1795250132)).toBe('01a1fd3f-1420-8867-ba28-1e85f4ba1ee6')
  expect(banEventId(serverId, 'nginx-http-auth', '2001:db8::7', 1)).toBe('00000000-03e8-88f2-8ca7-c7a68637f1f5')
  expect(banEventId(serverId, 'é', '2001:db8::7', 1)).toBe('00000000-03e8-8905-a55c-10810b0722bf')
  expect(knockEventId(serverId, '7|a')).toBe('692cfce6-c9a3-83a3-ac57-9d9de058e4ad')
})

it('begin with the time of the ban, whatever a host says of it', () => {
  const at = (time: number) => banEventId(serverId, 'sshd', '203.0.113.7', time)
  const times = [0, 0.001, 1, 1795250132, 1795250132.001, 1795250133]
  expect(times.map(at).sort()).toEqual(times.map(at))
  for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY]) expect(at(wrong)).toMatch(/^0{8}-0{4}-8/)
  expect(at(1e300)).toMatch(/^ffffffff-ffff-8/)
})

it('each part counts, and every id is a UUID of version 8', () => {
  const ids = new Set<string>()
  for (let i = 0; i < 500; i += 1) {
    ids.add(banEventId(serverId, 'sshd', '203.0.113.7', i))
    ids.add(unbanEventId(serverId, 'sshd', '203.0.113.7', i))
    ids.add(banEventId(serverId, `sshd${i}`, '203.0.113.7', 1))
  }
  expect(ids.size).toBe(1500)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
