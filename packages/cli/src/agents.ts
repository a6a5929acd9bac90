import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Client, Reply } from '@stockade/client'
import { addAddressCommands } from './agent-address.ts'
import { contextOf } from './context.ts'
import type { Context } from './context.ts'
import { Failure } from './failure.ts'
import { findServer } from './named.ts'
import { print, printEither, printFields, printJson, printTable } from './print.ts'
import { safe } from './safe.ts'
import { timeText, wholeOf } from './times.ts'
import { patiently } from './wait.ts'

type Rollout = Reply<'GET /agents/rollouts/{id}'>

interface UpgradeOptions {
  readonly server?: readonly string[]
  readonly waves?: readonly number[]
  readonly dryRun?: boolean
  readonly wait?: boolean
  readonly timeout?: number
}

/** How long a rollout is awaited unless told otherwise, in seconds. */
const patience = 3600

const numberOf = (counts: Rollout['counts'], states: readonly (keyof Rollout['counts'])[]): string =>
  states.flatMap(state => (counts[state] > 0 ? [`${counts[state]} ${state}`] : [])).join(', ')
const stateOf = ({ counts }: Rollout): string =>
  numberOf(counts, ['done', 'watched', 'ordered', 'waiting', 'skipped', 'failed']) || 'no servers'
const titleOf = ({ kind, version }: Rollout): string => (kind === 'upgrade' ? `to ${version}` : `back from ${version}`)
const headOf = (rollout: Rollout): string => {
  const { id, state, reason } = rollout
  return `Rollout ${id} ${safe(titleOf(rollout))} is ${state}. ${reason === null ? '' : `${safe(reason)} `}${stateOf(rollout)}.`
}

/** Said before an upgrade is wanted: hosts take what a key signed that they trust. */
const unsignedNote =
  'This release is not signed: only servers that were installed with --allow-unsigned take it from here. Others need the install command with --upgrade, or a signed release (npm run release -- --key FILE; --new-key FILE makes the key).'

const runRelease = async (_options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const release = await client.call('GET /agents/release')
  if (json) return printJson(release)
  printFields([
    ['offered', release.version ?? 'none: no agent was built here'],
    ['signed', release.signed ? 'yes' : 'no'],
    ['outdated', `${release.outdated} servers`],
  ])
  printTable(
    ['VERSION', 'SERVERS'],
    release.versions.map(({ version, servers }) => [version ?? '-', String(servers)]),
  )
  for (const { reason, servers } of release.reasons) print(`${servers}: ${safe(reason)}`)
  if (release.version !== null && !release.signed) print(`\n${unsignedNote}`)
}

/** Until it ends, or pauses and needs somebody. */
const untilEnded = async (client: Client, id: number, seconds: number): Promise<Rollout> => {
  const until = Date.now() + seconds * 1000
  for (;;) {
    const rollout = await patiently(until, () => client.call('GET /agents/rollouts/{id}', { params: { id } }))
    const isOver = rollout.state !== 'running' || Date.now() >= until
    if (isOver) return rollout
    await sleep(Math.min(2000, Math.max(0, until - Date.now())))
  }
}

const printDryRun = async ({ client, json }: Context, serverIds: readonly string[] | undefined): Promise<void> => {
  const { version, outdated, signed } = await client.call('GET /agents/release')
  const count = serverIds?.length ?? outdated
  if (json) return printJson({ dry_run: true, version, servers: count })
  print(`Would upgrade ${count} servers to ${version ?? 'no release'}. Nothing was done.`)
  if (version !== null && !signed) print(unsignedNote)
}

const runUpgrade = async (options: UpgradeOptions, command: Command): Promise<void> => {
  const context = contextOf(command)
  const { client, json } = context
  const { server, waves, dryRun, wait, timeout = patience } = options
  const server_ids = server && (await Promise.all(server.map(name => findServer(client, name))))
  if (dryRun) return printDryRun(context, server_ids)
  const body = { ...(server_ids ? { server_ids } : {}), ...(waves ? { waves: [...waves] } : {}) }
  const newRollout = await client.call('POST /agents/rollouts', { body })
  const rollout = wait ? await untilEnded(client, newRollout.id, timeout) : newRollout
  printEither(json, rollout, headOf(rollout))
  if (wait && (rollout.state !== 'finished' || rollout.counts.failed > 0))
    throw new Failure('Not every server runs it.')
}

const runShow = async (id: number, _options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const rollout = await client.call('GET /agents/rollouts/{id}', { params: { id } })
  const failed = await client.call('GET /agents/rollouts/{id}/servers', {
    params: { id },
    query: { state: 'failed', limit: 100 },
  })
  if (json) return printJson({ ...rollout, failed: failed.servers })
  print(headOf(rollout))
  printTable(
    ['WAVE', 'SERVERS', 'STARTED', 'STATE'],
    rollout.waves.map(({ servers, started_at, counts }, wave) => [
      String(wave + 1),
      String(servers),
      timeText(started_at) ?? '-',
      numberOf(counts, ['done', 'watched', 'ordered', 'waiting', 'skipped', 'failed']),
    ]),
  )
  for (const { server, problem } of failed.servers) print(`${safe(server.hostname)}: ${safe(problem ?? '')}`)
}

const runList = async (_options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /agents/rollouts', { query: {} })
  if (json) return printJson(list)
  printTable(
    ['ID', 'RELEASE', 'STATE', 'SERVERS', 'BY', 'STARTED'],
    list.rollouts.map(rollout => [
      String(rollout.id),
      titleOf(rollout),
      rollout.state,
      stateOf(rollout),
      rollout.created_by,
      timeText(rollout.created_at) ?? '-',
    ]),
  )
}

const actions = {
  pause: 'POST /agents/rollouts/{id}/pause',
  resume: 'POST /agents/rollouts/{id}/resume',
  abort: 'POST /agents/rollouts/{id}/abort',
  rollback: 'POST /agents/rollouts/{id}/rollback',
} as const
const acting = (verb: keyof typeof actions) => async (id: number, _: object, command: Command) => {
  const { client, json } = contextOf(command)
  const rollout = await client.call(actions[verb], { params: { id } })
  printEither(json, rollout, headOf(rollout))
}

export const addAgentCommands = (program: Command): void => {
  const agents = program.command('agents').description('Upgrades the agents on the servers, a few first.')
  agents.command('release').description('Say which agent the server offers, and which ones run.').action(runRelease)
  agents
    .command('upgrade')
    .description('Upgrade the agents in waves: one server, then a share, then all.')
    .option('--server <name...>', 'these servers; all that run another release unless given')
    .option('--waves <percent...>', 'shares of the servers, rising to 100; 5 25 100 unless given', wavesOf)
    .option('--dry-run', 'only say how many servers it would concern')
    .option('--wait', 'until it ends or pauses')
    .option('--timeout <seconds>', `longest wait, ${patience} unless given`, wholeOf)
    .action(runUpgrade)
  addAddressCommands(agents)
  agents.command('rollouts').description('List the rollouts, newest first.').action(runList)
  const rolloutCommand = (name: string, description: string) =>
    agents.command(name).argument('<id>', 'number of the rollout', wholeOf).description(description)
  rolloutCommand('show', 'Show a rollout, with the servers that failed.').action(runShow)
  rolloutCommand('pause', 'Order no further server.').action(acting('pause'))
  rolloutCommand('resume', 'Go on with a paused rollout.').action(acting('resume'))
  rolloutCommand('abort', 'End a rollout; upgraded servers keep their release.').action(acting('abort'))
  rolloutCommand('rollback', 'Return the servers that a rollout upgraded to the release before.').action(
    acting('rollback'),
  )
}

const wavesOf = (typed: string, before: readonly number[] = []): readonly number[] => [...before, wholeOf(typed)]
