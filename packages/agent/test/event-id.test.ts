import { expect, it } from 'vitest'
import { banEventId, unbanEventId } from '../src/event-id.ts'

/** Made with Python's hashlib and uuid. */
const SERVER = '0192f0c1-2d3e-7a4b-8c5d-6e7f80910a1b'

it('the ids are those of the reference', () => {
  expect(banEventId(SERVER, 'sshd', '203.0.113.7', 1795250132)).toBe('2b7afa10-1217-866f-9687-b1be90114131')
  expect(unbanEventId(SERVER, 'sshd', '203.0.113.7', 1795250132)).toBe('2aba04c7-d75c-8867-ba28-1e85f4ba1ee6')
  expect(banEventId(SERVER, 'nginx-http-auth', '2001:db8::7', 1)).toBe('a24216b4-fa42-88f2-8ca7-c7a68637f1f5')
  expect(banEventId(SERVER, 'é', '2001:db8::7', 1)).toBe('71bedd6a-fd85-8905-a55c-10810b0722bf')
})

it('each part counts, and every id is a UUID of version 8', () => {
  const ids = new Set<string>()
  for (let i = 0; i < 500; i += 1) {
    ids.add(banEventId(SERVER, 'sshd', '203.0.113.7', i))
    ids.add(unbanEventId(SERVER, 'sshd', '203.0.113.7', i))
    ids.add(banEventId(SERVER, `sshd${i}`, '203.0.113.7', 1))
  }
  expect(ids.size).toBe(1500)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
