import type { Command } from 'commander'
import type { Client } from '@stockade/client'
import type { Target, TargetInput } from '@stockade/contract'
import { Misuse } from './failure.ts'
import { findServer } from './named.ts'

/** Which servers an object of the fleet is for, as it is typed. */
export interface TargetOptions {
  readonly server?: readonly string[]
  readonly tag?: readonly string[]
  readonly all?: boolean
}

/** The options for it, in words that fit after the command. */
export const withTarget = (command: Command): Command =>
  command
    .option('--all', 'on all servers')
    .option('--tag <tag...>', 'on servers that have one of these tags')
    .option('--server <name-or-id...>', 'on these servers')

export const isTargeted = ({ server, tag, all }: TargetOptions): boolean =>
  [server, tag, all].some(given => given !== undefined)

/** @throws Misuse unless exactly one way is given */
export const targetOf = async (client: Client, { server, tag, all }: TargetOptions): Promise<TargetInput> => {
  if ([server, tag, all].filter(given => given !== undefined).length !== 1)
    throw new Misuse('Say where: --server NAME..., --tag TAG..., or --all.')
  if (tag) return { tags: [...tag] }
  return server ? { server_ids: await Promise.all(server.map(name => findServer(client, name))) } : { all: true }
}

export const whereOf = ({ target }: { readonly target: Target | TargetInput }): string => {
  if (target.all) return 'all servers'
  const { tags = [], server_ids: ids = [] } = target
  const servers = `${ids.length} ${ids.length === 1 ? 'server' : 'servers'}`
  return [...tags.map(tag => `tag:${tag}`), ...(ids.length > 0 || tags.length === 0 ? [servers] : [])].join(', ')
}
