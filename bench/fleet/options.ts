import { parseArgs } from 'node:util'
import { say } from '../report.ts'

/** What a run was asked for. Times in seconds. */
export interface Options {
  readonly agents: number
  /** Processes that the hosts share. */
  readonly workers: number
  /** Server processes; more than one stand behind HAProxy. */
  readonly servers: number
  readonly database: 'sqlite' | 'postgres'
  readonly bansPerSecond: number
  readonly seconds: number
  /** Between two heartbeats of one agent. */
  readonly heartbeat: number
  /** Over which the agents start. */
  readonly startPeriod: number
  /** Without changes once all agents are there, in which heartbeats and memory are measured by themselves. */
  readonly calm: number
  /** Commands for every host in one batch, one after the other. */
  readonly batches: number
  /** Changes of the whitelist, one after the other. */
  readonly whitelistChanges: number
  /** After which something that did not reach everybody counts as an error. */
  readonly patience: number
  /** Kill the servers and start them again in the middle (only its own servers). */
  readonly kill: boolean
  /** For which they stay away then. */
  readonly away: number
  readonly seed: number
  /** A server that runs already; null: servers of its own. */
  readonly url: string | null
  /** An API key of that server with `admin`. */
  readonly key: string
  /** Leave the servers registered at the end (only with `url`). */
  readonly keep: boolean
}

const help = `npm run bench -- fleetsim [--agents 100] [--workers 1] [--servers 1] [--database sqlite|postgres]
                    [--bans-per-second 20] [--seconds 30] [--heartbeat 30] [--start-period 2] [--calm 0]
                    [--batches 1] [--whitelist-changes 1] [--patience 120] [--kill [--away 2]] [--seed 1]
                    [--url URL --key KEY [--keep]]`

const refuse = (problem: string): never => {
  say(problem)
  return process.exit(2)
}

export const readOptions = (): Options => {
  const { values } = parseArgs({
    options: {
      agents: { type: 'string', default: '100' },
      workers: { type: 'string', default: '1' },
      servers: { type: 'string', default: '1' },
      database: { type: 'string', default: 'sqlite' },
      'bans-per-second': { type: 'string', default: '20' },
      seconds: { type: 'string', default: '30' },
      heartbeat: { type: 'string', default: '30' },
      'start-period': { type: 'string', default: '2' },
      calm: { type: 'string', default: '0' },
      batches: { type: 'string', default: '1' },
      'whitelist-changes': { type: 'string', default: '1' },
      patience: { type: 'string', default: '120' },
      kill: { type: 'boolean', default: false },
      away: { type: 'string', default: '2' },
      seed: { type: 'string', default: '1' },
      url: { type: 'string' },
      key: { type: 'string' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    say(help)
    process.exit(0)
  }
  const number = (name: Exclude<keyof typeof values, 'kill' | 'keep' | 'help' | 'url' | 'key'>, least = 0) => {
    const value = Number(values[name])
    if (Number.isFinite(value) && value >= least) return value
    return refuse(`--${name} must be a number of at least ${least}, not "${values[name]}".`)
  }
  const { database } = values
  if (database !== 'sqlite' && database !== 'postgres')
    return refuse(`--database must be sqlite or postgres, not "${database}".`)
  if (values.kill && values.url !== undefined)
    return refuse('Only servers of its own can be killed, not that of --url.')
  const servers = Math.floor(number('servers', 1))
  if (servers > 1 && database === 'sqlite') return refuse('Several servers need --database postgres.')
  return {
    agents: Math.floor(number('agents', 1)),
    workers: Math.floor(number('workers', 1)),
    servers,
    database,
    bansPerSecond: number('bans-per-second'),
    seconds: number('seconds'),
    heartbeat: number('heartbeat'),
    startPeriod: number('start-period'),
    calm: number('calm'),
    batches: number('batches'),
    whitelistChanges: number('whitelist-changes'),
    patience: number('patience'),
    kill: values.kill,
    away: number('away'),
    seed: number('seed'),
    url: values.url ?? null,
    key: values.key ?? '',
    keep: values.keep,
  }
}
