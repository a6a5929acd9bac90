import { expect, test } from 'vitest'
import { silentHost } from '../servers/host-state.ts'
import type { Server } from '../servers/registry.ts'
import type { ServerRow } from '../servers/servers.store.ts'
import { createSilence, findOnServers } from './server-conditions.ts'

const second = 1000
const server = (lastHeartbeat: number | null, status: 'pending' | 'online' | 'offline' = 'online'): Server => ({
  ...silentHost,
  lastHeartbeat,
  row: { no: 1, id: 'a', hostname: 'web-01', status, clone: null, quarantined_at: null } as ServerRow,
})
const isSilent = (at: number, one: Server, config = { heartbeatInterval: 30, offlineAfter: 90 }) => {
  const heardAfter = createSilence(config, 0)
  return (findOnServers([one], heardAfter(at)).get('server-silent') ?? []).length === 1
}

test('a silence is known before a minute is over, and before the server is offline', () => {
  const last = 1000 * second
  expect([54, 56, 89].map(after => isSilent(last + after * second, server(last)))).toEqual([false, true, true])
  // A clock that was put back.
  expect(isSilent(last - 600 * second, server(last))).toBe(false)
  expect(isSilent(last, server(null, 'pending'))).toBe(false)
  expect(isSilent(last, server(null, 'offline'))).toBe(true)
})
test('nobody is silent soon after the start of Stockade, and never later than offline', () => {
  expect([89, 91].map(at => isSilent(at * second, server(0)))).toEqual([false, true])
  const quick = { heartbeatInterval: 5, offlineAfter: 20 }
  expect([119, 121].map(at => isSilent(at * second, server(100 * second), quick))).toEqual([false, true])
})
