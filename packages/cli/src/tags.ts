import type { Command } from 'commander'
import type { Client } from '@stockade/client'
import { contextOf } from './context.ts'
import { Misuse } from './failure.ts'
import { serverNamed } from './named.ts'
import type { Named } from './named.ts'
import { print, printJson, printTable } from './print.ts'

interface TagOptions {
  readonly add?: readonly string[]
  readonly remove?: readonly string[]
  readonly dryRun?: boolean
}

/** Servers that have at least one of the tags and have an agent, each once. */
export const serversTagged = async (client: Client, tags: readonly string[]): Promise<Named[]> => {
  const serversById = new Map<string, Named>()
  for (const tag of new Set(tags))
    for (let page = 1; ; page++) {
      const { servers, total, limit } = await client.call('GET /servers', { query: { tag, page, limit: 100 } })
      for (const { id, hostname, status } of servers) if (status !== 'pending') serversById.set(id, { id, hostname })
      if (page * limit >= total) break
    }
  return [...serversById.values()]
}

const runTag = async (names: readonly string[], options: TagOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { add = [], remove = [] } = options
  if (add.length + remove.length === 0) throw new Misuse('Say which tags: --add TAG..., --remove TAG..., or both.')
  const { servers } = await client.call('GET /servers/summary')
  const body = {
    server_ids: [...new Set(names.map(name => serverNamed(servers, name)))],
    ...(add.length > 0 ? { add: [...add] } : {}),
    ...(remove.length > 0 ? { remove: [...remove] } : {}),
  }
  if (options.dryRun) {
    if (json) return printJson({ dry_run: true, ...body })
    const changes = [...add.map(tag => `add ${tag}`), ...remove.map(tag => `remove ${tag}`)].join(', ')
    const { length } = body.server_ids
    return print(`Would ${changes} on ${length} ${length === 1 ? 'server' : 'servers'}. Nothing was done.`)
  }
  const reply = await client.call('POST /servers/tags', { body })
  if (json) return printJson(reply)
  print(reply.message)
}

export const addTags = (servers: Command): void => {
  servers
    .command('tag')
    .description('add tags to servers, and remove tags from them')
    .argument('<name-or-id...>', 'the servers')
    .option('--add <tag...>', 'tags that they get')
    .option('--remove <tag...>', 'tags that they lose')
    .option('--dry-run', 'say what would be done')
    .action(runTag)
  servers
    .command('tags')
    .description('list the tags of servers')
    .action(async (_: object, command: Command) => {
      const { client, json } = contextOf(command)
      const list = await client.call('GET /servers/tags')
      if (json) return printJson(list)
      printTable(
        ['TAG', 'SERVERS', 'GRANTS ACCESS'],
        list.tags.map(({ tag, servers: count, grants_access }) => [tag, count, grants_access ? 'yes' : 'no']),
      )
    })
}
