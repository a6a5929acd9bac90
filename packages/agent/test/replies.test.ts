import { agents, bans } from '@stockade/contract'
import type { Endpoint, ReplyOf } from '@stockade/contract'
import fastify from 'fastify'
import { expect, it } from 'vitest'
import { parseKnock } from '../src/knock/model.ts'
import {
  readCommandResults,
  readDesiredState,
  readEnrolment,
  readEventResults,
  readHeartbeat,
  readOffer,
  readOrders,
} from '../src/replies.ts'

/* Samples of the contract's replies, written by the serialiser that the server writes them with. */

const id = '00000000-0000-4000-8000-000000000001'
const other = '00000000-0000-4000-8000-000000000002'

/** What arrives at the agent if a server answers an endpoint with this reply. */
const arriving = async <E extends Endpoint>({ status, reply: shape }: E, sample: ReplyOf<E>): Promise<unknown> => {
  const app = fastify()
  app.get('/', { schema: { response: { [status]: shape } } }, (_request, reply) => reply.status(status).send(sample))
  const response = await app.inject({ url: '/' })
  await app.close()
  expect(response.statusCode).toBe(status)
  return response.json()
}

const template = {
  name: 'web-1',
  jail_config: '[web-1]',
  filter_config: '',
  required_files: [],
  settings: { maxretry: 3 },
}
const sealed = {
  statement: '{}',
  proof: [],
  signature: { kind: 'ed25519' as const, key: `SHA256:${'A'.repeat(43)}`, signature: 'c2ln' },
}
const orders = [
  { id, type: 'ban-ip', params: { jail: 'sshd', ip: '192.0.2.1', duration: 600 }, seal: sealed },
  { id: other, type: 'deploy-template', params: {}, template },
]
const readOrdersOf = [
  { id, type: 'ban-ip', params: { jail: 'sshd', ip: '192.0.2.1', duration: 600 }, seal: sealed },
  { id: other, type: 'deploy-template', params: { template } },
]

it('reads the commands, the state and the interval of a heartbeat', async () => {
  const reply = { message: 'ok', commands: orders, desired_state: { version: 's1' }, heartbeat_interval: 45 }
  expect(readHeartbeat(await arriving(agents.heartbeat, reply))).toEqual({
    commands: readOrdersOf,
    stateVersion: 's1',
    interval: 45,
  })
})

it('reads the commands and the state of a poll', async () => {
  const reply = { commands: orders, desired_state: { version: 's2' } }
  expect(readOrders(await arriving(agents.pendingCommands, reply))).toEqual({
    commands: readOrdersOf,
    stateVersion: 's2',
  })
})

const offered = {
  version: 's3',
  whitelist: { version: 'w1', count: 1, spread_seconds: 0 },
  portknock: { sequences: [], openings: [], blocked: [], cuts: [] },
  shield: { bans: { version: 0, count: 0, digest: 'd' }, lists: [] },
  move: null,
}
it('reads the state that came with a poll, and the short list that it names', async () => {
  const reply = { commands: [], desired_state: { version: 's3' }, state: offered }
  const whitelist = { version: 'w1', text: '192.0.2.1\n' }
  const state = readDesiredState(offered)
  expect(readOffer(await arriving(agents.pendingCommands, { ...reply, whitelist }))).toEqual({ state, list: whitelist })
  expect(readOffer(await arriving(agents.pendingCommands, reply))).toEqual({ state, list: null })
})

it.each([
  [{}],
  [{ state: null }],
  [{ state: 's3' }],
  [{ state: { version: 's3' } }],
  [{ state: { ...offered, version: '' } }],
  // It says what to open and close at a time that is long after the poll was sent.
  [{ state: { ...offered, portknock: { ...offered.portknock, sequences: [{}] } } }],
  [{ state: { ...offered, portknock: { ...offered.portknock, cuts: [{}] } } }],
])('requests the state by itself after %j', reply => expect(readOffer(reply)).toBeNull())

it('reads the desired state with its port knocking', async () => {
  const sequence = {
    id: 7,
    revision: 4,
    protected_port: 22,
    knock_ports: [7001, 8001],
    protocol: 'tcp' as const,
    timeout: 30,
    knock_timeout: 10,
    max_attempts: 5,
    block_duration: 3600,
  }
  const listed = { sequence_id: 7, ip: '192.0.2.1', expires_at: '2026-11-22T12:00:00.000Z' }
  const state = readDesiredState(
    await arriving(agents.agentState, {
      version: 's1',
      whitelist: { version: 'w1', count: 3, spread_seconds: 20 },
      portknock: { sequences: [sequence], openings: [{ id, ...listed }], blocked: [listed], cuts: [listed] },
      shield: { bans: { version: 5, count: 1, digest: 'd' }, lists: [] },
      move: null,
    }),
  )
  expect(state).toMatchObject({ version: 's1', whitelist: { version: 'w1', count: 3, spread: 20 } })
  const until = Date.parse(listed.expires_at)
  expect(parseKnock(state.portknock)).toEqual({
    sequences: [
      {
        id: 7,
        revision: 4,
        protectedPort: 22,
        knockPorts: [7001, 8001],
        protocol: 'tcp',
        timeout: 30,
        knockTimeout: 10,
        maxAttempts: 5,
        blockDuration: 3600,
      },
    ],
    faults: [],
    openings: [{ id, sequence: 7, ip: '192.0.2.1', until }],
    blocked: [{ sequence: 7, ip: '192.0.2.1', until }],
    cuts: [{ sequence: 7, ip: '192.0.2.1', until }],
  })
})

it('reads what the server decided about bans, knocks and results', async () => {
  const decided = [
    { id, error: null },
    { id: other, error: 'refused' },
  ]
  const banRows = [
    { event_id: id, id: 1, error: null },
    { event_id: other, id: null, error: 'refused' },
    { event_id: null, id: null, error: 'not an object' },
  ]
  expect(readEventResults(await arriving(bans.reportBans, { results: banRows }))).toEqual(decided)
  const knockRows = [
    { event_id: id, ok: true, error: null },
    { event_id: other, ok: false, error: 'refused' },
  ]
  expect(readEventResults(await arriving(agents.reportKnocks, { results: knockRows }))).toEqual(decided)
  expect(readCommandResults(await arriving(agents.reportResults, { results: decided }))).toEqual(decided)
})

it('reads the id and the key of an enrolment', async () => {
  const enrolled = { server_id: id, api_key: 'k'.repeat(40) }
  expect(readEnrolment(await arriving(agents.enroll, enrolled))).toEqual(enrolled)
})

it('takes nothing from a reply that makes no sense', () => {
  for (const nonsense of [null, 'x', 7, [], {}, { commands: {}, desired_state: [], results: 'x' }]) {
    expect(readHeartbeat(nonsense)).toEqual({ commands: [], stateVersion: null, interval: 30 })
    expect(readEventResults(nonsense)).toEqual([])
    expect(readCommandResults(nonsense)).toEqual([])
    expect(() => readDesiredState(nonsense)).toThrow('does not understand')
    expect(() => readEnrolment(nonsense)).toThrow('id and a key')
  }
  expect(readHeartbeat({ heartbeat_interval: 0 }).interval).toBe(30)
  expect(readHeartbeat({ desired_state: { version: 'a b' } }).stateVersion).toBeNull()
})
