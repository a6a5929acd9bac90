import { Type } from 'typebox'
import type { Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { bounds, pages } from './limits.ts'
import { count, id, listOf, paging, serverRef, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource, shape } from './shapes.ts'

/* Upgrades of the agents on many hosts, in waves. docs/guides/agent-upgrades.md describes them. */

const family = { tag: 'Agent upgrades', scope: 'servers' } as const
const params = shape({ id })

export const rolloutState = oneOf(['running', 'paused', 'finished', 'aborted'], { title: 'RolloutState' })
export type RolloutState = Static<typeof rolloutState>
export const rolloutHostState = oneOf(['waiting', 'ordered', 'watched', 'done', 'failed', 'skipped'], {
  title: 'RolloutHostState',
})
export type RolloutHostState = Static<typeof rolloutHostState>

const counts = {
  waiting: field(count, 'Servers that were not ordered yet: their wave did not begin, or they are offline.'),
  ordered: field(count, 'Servers that have the order and did not answer yet.'),
  watched: field(count, 'Servers whose new agent answered, until it has sent three heartbeats.'),
  done: field(count, 'Servers that run the release and report as before.'),
  failed: field(count, 'Servers that refused it, or whose agent went back to the release before.'),
  skipped: field(count, 'Servers that take no upgrade from Stockade.'),
}
export const rolloutCounts = resource('RolloutCounts', counts)

export const rolloutWave = resource('RolloutWave', {
  servers: field(count, 'Servers of this wave.'),
  counts: field(rolloutCounts, 'How far they are.'),
  started_at: field(nullable(timestamp), 'Time at which the wave began; null before.'),
})

export const rollout = resource('Rollout', {
  id,
  kind: field(
    oneOf(['upgrade', 'rollback']),
    'Whether it installs the release of Stockade, or returns servers to the release before.',
  ),
  version: field(Type.String(), 'Version that is installed; for `rollback` the version that is left.'),
  state: field(
    rolloutState,
    '`paused`: no further server is ordered until somebody resumes it. `finished`: every server is done, failed or skipped.',
  ),
  reason: field(nullable(Type.String()), 'Why it is paused, or what ended it; null while there is nothing to say.'),
  wave: field(count, 'The wave that is under way, counted from 0.'),
  waves: field(Type.Array(rolloutWave), 'The waves, in their order.'),
  counts: field(rolloutCounts, 'All servers of the rollout.'),
  created_by: field(Type.String(), 'Name of the user or API key that started it.'),
  created_at: timestamp,
  ended_at: field(nullable(timestamp), 'Time at which it finished or was aborted; null before.'),
})
export type Rollout = Static<typeof rollout>

export const agentRelease = endpoint('GET /agents/release', {
  ...family,
  fleet: true,
  summary: 'Read which agent Stockade offers, and which ones run',
  access: 'admin',
  reply: resource('AgentRelease', {
    version: field(nullable(Type.String()), 'Version that Stockade offers; null where it was built without an agent.'),
    release: field(
      nullable(Type.String()),
      'Name of the release: its version and the beginning of its digest. Two builds of one version differ in it.',
    ),
    signed: field(
      Type.Boolean(),
      'Whether the release carries a signed manifest. Servers verify it by keys of their own.',
    ),
    versions: field(
      Type.Array(
        resource('AgentVersionCount', {
          version: field(nullable(Type.String()), 'Version that agents say they are; null before they said one.'),
          servers: field(count, 'Servers with that version.'),
        }),
      ),
      'Versions that run, those of most servers first.',
    ),
    outdated: field(count, 'Servers that run another release than the offered one.'),
    rebuilt: field(count, 'Of these, servers that run another build of the same version.'),
    unable: field(count, 'Of these, servers that take no upgrade from Stockade.'),
    reasons: field(
      Type.Array(
        resource('UpgradeObstacle', {
          reason: field(Type.String(), 'Why the servers take none.'),
          servers: field(count, 'Servers that say so.'),
        }),
      ),
      'Why servers take no upgrade from Stockade, the reasons of most servers first.',
    ),
  }),
})

export const createRollout = endpoint('POST /agents/rollouts', {
  ...family,
  fleet: true,
  summary: 'Upgrade the agents, a few first',
  description:
    'One server first, then the shares of `waves` of the rest, each when all servers of the wave before run the release and report as before. The rollout pauses by itself when more than one server or more than 2 % of a wave failed, or when fewer than 95 % of the upgraded servers report. Servers that are offline hold up no wave; they follow when they return. One rollout runs at a time.',
  access: 'admin',
  lasts: true,
  leaves: { what: 'rollouts that run', most: 1, per: 'fleet' },
  body: shape({
    server_ids: field(
      Type.Optional(Type.Array(uuid, { minItems: 1, maxItems: bounds.targets })),
      'Servers to upgrade; all whose agent is another release unless given.',
    ),
    waves: field(
      Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), { minItems: 1, maxItems: 10 })),
      'Shares of the servers in percent, rising; the last one is 100. 5, 25 and 100 unless given.',
    ),
  }),
  status: 201,
  reply: rollout,
  refusals: [404, 409],
})

export const listRollouts = endpoint('GET /agents/rollouts', {
  ...family,
  fleet: true,
  summary: 'List the rollouts of agents',
  description: 'Newest first.',
  access: 'admin',
  query: shape(paging(pages.rollouts)),
  reply: listOf('rollouts', rollout),
})

export const getRollout = endpoint('GET /agents/rollouts/{id}', {
  ...family,
  fleet: true,
  summary: 'Read a rollout of agents',
  access: 'admin',
  params,
  reply: rollout,
  refusals: [404],
})

export const listRolloutServers = endpoint('GET /agents/rollouts/{id}/servers', {
  ...family,
  fleet: true,
  summary: 'List the servers of a rollout',
  description: 'Those that failed first, then by wave.',
  access: 'admin',
  params,
  query: shape({
    state: field(Type.Optional(rolloutHostState), 'Only servers in this state.'),
    ...paging(pages.rollouts),
  }),
  reply: listOf(
    'servers',
    resource('RolloutServer', {
      server: serverRef,
      wave: field(count, 'Wave of the server, counted from 0.'),
      state: field(rolloutHostState, 'How far the server is.'),
      from_release: field(nullable(Type.String()), 'Release that ran before; null when the agent did not say.'),
      problem: field(nullable(Type.String()), 'Why it failed or was skipped; null otherwise.'),
      command_id: field(nullable(uuid), 'Command that ordered it; null before.'),
    }),
  ),
  refusals: [404],
})

const act = { ...family, fleet: true, access: 'admin', params, reply: rollout, refusals: [404, 409] } as const

export const pauseRollout = endpoint('POST /agents/rollouts/{id}/pause', {
  ...act,
  lasts: false,
  leaves: null,
  summary: 'Pause a rollout',
  description: 'No further server is ordered. Those that have the order go on.',
})
export const resumeRollout = endpoint('POST /agents/rollouts/{id}/resume', {
  ...act,
  lasts: true,
  leaves: null,
  summary: 'Resume a rollout',
  description: 'The failures so far do not pause it again.',
})
export const abortRollout = endpoint('POST /agents/rollouts/{id}/abort', {
  ...act,
  lasts: false,
  leaves: null,
  summary: 'Abort a rollout',
  description: 'No further server is ordered, and orders that were not fetched are cancelled.',
})
export const rollBackRollout = endpoint('POST /agents/rollouts/{id}/rollback', {
  ...act,
  lasts: true,
  leaves: { what: 'rollouts that run', most: 1, per: 'fleet' },
  summary: 'Return the upgraded servers to the release before',
  description:
    'Aborts the rollout if it runs, and starts one that returns every server it upgraded to the release before, which the servers kept. Answers the new rollout.',
  status: 201,
})
