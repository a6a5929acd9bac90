import { InvalidArgumentError, Option } from 'commander'
import type { Command } from 'commander'
import { ApiError } from '@stockade/client'
import type { CallInput, Client, Reply } from '@stockade/client'
import { agree } from './ask.ts'
import { contextOf } from './context.ts'
import { Failure } from './failure.ts'
import { findServer } from './named.ts'
import { print, printFields, printJson, printTable } from './print.ts'
import { safe } from './safe.ts'
import { endOf, timeText, wholeOf } from './times.ts'
import { patiently } from './wait.ts'
import { permitted } from './whoami.ts'

type Owner = Pick<Reply<'GET /users'>['users'][number], 'id' | 'username'>
type Key = Reply<'GET /users/{userId}/keys'>['keys'][number] & { readonly user: Owner }
type Input = CallInput<'POST /keys'>['body']
type Limits = Pick<Key, 'server_id' | 'tags' | 'scopes' | 'source_networks' | 'expires_at'>

const permissions = ['read', 'write', 'admin'] as const
/** Unless another end is given. */
const validity = '90d'
const page = 100
/** How long a budget of requests that others use too is waited for. In milliseconds. */
const patience = 120_000

const patient = <T>(ask: () => Promise<T>): Promise<T> => patiently(Date.now() + patience, ask)

const usersFound = async (client: Client, search?: string): Promise<Owner[]> => {
  const owners: Owner[] = []
  for (let number = 1; ; number++) {
    const query = { limit: page, page: number, ...(search === undefined ? {} : { search }) }
    const { users, total } = await patient(() => client.call('GET /users', { query }))
    owners.push(...users)
    if (users.length < page || owners.length >= total) return owners
  }
}

/** Keys that the caller may see: all with `admin`, otherwise its own. An API key is no user and has none. */
const ownersOf = async (client: Client, username?: string): Promise<Owner[]> => {
  const me = await permitted(client.call('GET /auth/me'))
  const isMine = me !== null && (username === undefined || username.toLowerCase() === me.username.toLowerCase())
  if (isMine && me.role !== 'Admin') return [me]
  const users = await usersFound(client, username)
  if (username === undefined) return users
  const user = users.find(one => one.username.toLowerCase() === username.toLowerCase())
  if (!user) throw new Failure(`There is no user "${username}".`)
  return [user]
}

const keysOf = async (client: Client, username?: string): Promise<Key[]> => {
  const all: Key[] = []
  for (const { id, username: name } of await ownersOf(client, username))
    try {
      const params = { userId: id }
      const { keys } = await patient(() => client.call('GET /users/{userId}/keys', { params }))
      all.push(...keys.map(key => ({ ...key, user: { id, username: name } })))
    } catch (error) {
      // Deleted since the users were listed, and the keys with it.
      if (!(error instanceof ApiError && error.status === 404)) throw error
    }
  return all
}

/** What hosts are called, where a key names one; a key that may not see servers shows their ids. */
const hostnamesOf = async (client: Client, keys: readonly Limits[]): Promise<ReadonlyMap<string, string>> => {
  const summary = keys.some(key => key.server_id !== null) ? await permitted(client.call('GET /servers/summary')) : null
  return new Map(summary?.servers.map(({ id, hostname }) => [id, hostname]))
}
const serversOf = ({ server_id: id, tags }: Limits, hostnames: ReadonlyMap<string, string>): string => {
  if (id === null && tags === null) return 'all'
  const server = id === null ? [] : [hostnames.get(id) ?? id]
  return [...server, ...(tags ?? []).map(tag => `tag:${tag}`)].join(',')
}
const limitsOf = (key: Limits, hostnames: ReadonlyMap<string, string>) => ({
  server: serversOf(key, hostnames),
  scopes: key.scopes?.join(',') ?? 'all',
  networks: key.source_networks?.join(',') ?? 'any',
  expires: timeText(key.expires_at) ?? 'never',
})

const list = async (client: Client, json: boolean, username?: string): Promise<void> => {
  const keys = await keysOf(client, username)
  if (json) return printJson({ keys })
  const hostnames = await hostnamesOf(client, keys)
  printTable(
    ['NAME', 'USER', 'PERMISSIONS', 'SERVER', 'SCOPES', 'NETWORKS', 'EXPIRES', 'LAST USED', 'FROM', 'KEY', 'ID'],
    keys.map(key => {
      const { server, scopes, networks, expires } = limitsOf(key, hostnames)
      const used = [timeText(key.last_used), key.last_used_from]
      const start = `${key.prefix}…`
      return [key.name, key.user.username, key.permissions, server, scopes, networks, expires, ...used, start, key.id]
    }),
  )
  print(`\n${keys.length} ${keys.length === 1 ? 'key' : 'keys'}`)
}

interface CreateOptions {
  readonly permissions: (typeof permissions)[number]
  readonly server?: string
  readonly tags?: string[]
  /** The server says which scopes there are. */
  readonly scopes?: Input['scopes']
  readonly networks?: string[]
  /** ISO 8601, `none`, or `validity` where nothing is said. */
  readonly expires: string
}
const create = async (client: Client, json: boolean, name: string, options: CreateOptions): Promise<void> => {
  const { server, tags, scopes, networks, expires } = options
  const body: Input = {
    name,
    permissions: options.permissions,
    ...(server === undefined ? {} : { server_id: await findServer(client, server) }),
    ...(tags === undefined ? {} : { tags }),
    ...(expires === 'none' ? {} : { expires_at: expires === validity ? endOf(validity) : expires }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(networks === undefined ? {} : { source_networks: networks }),
  }
  const newKey = await client.call('POST /keys', { body })
  if (json) return printJson(newKey)
  // The key is there: want of a hostname must not keep it from being shown.
  const hostnames = new Map(newKey.server_id !== null && server !== undefined ? [[newKey.server_id, server]] : [])
  const limits = limitsOf(newKey, hostnames)
  printFields([
    ['name', newKey.name],
    ['id', String(newKey.id)],
    ['permissions', newKey.permissions],
    ['server', limits.server],
    ['scopes', limits.scopes],
    ['networks', limits.networks],
    ['expires', limits.expires],
    ['key', newKey.key],
  ])
  print('\nThe key is shown only now.')
}

const revoke = async (client: Client, json: boolean, keyId: number, sure: boolean): Promise<void> => {
  if (!sure) {
    const ownKey = (await permitted(keysOf(client)))?.find(key => key.id === keyId)
    const what = ownKey
      ? `${safe(ownKey.name)} (${ownKey.prefix}…) of ${safe(ownKey.user.username)}`
      : `API key ${keyId}`
    await agree(`${what}: whatever uses it is refused from then on.`, 'Revoke the key?', 'Nothing was revoked.')
  }
  const reply = await client.call('DELETE /keys/{keyId}', { params: { keyId } })
  if (json) return printJson(reply)
  print(reply.message)
}

const wordsOf = (text: string): string[] => {
  const words = text.split(',').map(word => word.trim())
  if (words.includes('')) throw new InvalidArgumentError('Give one or several, separated by commas.')
  return words
}

export const addKeyCommands = (program: Command): void => {
  const keys = program.command('keys').description('list, create and revoke API keys (needs admin)')

  keys
    .command('list')
    .description('list the keys of all users')
    .option('--user <name>', 'of this user')
    .action(({ user }: { user?: string }, command: Command) => {
      const { client, json } = contextOf(command)
      return list(client, json, user)
    })

  keys
    .command('create')
    .description('create a key and print it, once')
    .argument('<name>', 'what it is for')
    .addOption(
      new Option('--permissions <permission>', 'what it may do').choices([...permissions]).makeOptionMandatory(),
    )
    .option('--server <name-or-id>', 'for this server only')
    .option('--tags <tags>', 'for servers that have one of these tags only, separated by commas', wordsOf)
    .option('--scopes <scopes>', 'for these families of endpoints only, such as bans,whitelist', wordsOf)
    .option('--networks <cidrs>', 'used from these addresses and CIDRs only, separated by commas', wordsOf)
    .addOption(
      new Option('--expires <time>', 'when it ends: 90d from now, a date or a time, or none')
        .argParser(endOf)
        .default(validity, validity),
    )
    .action((name: string, options: CreateOptions, command: Command) => {
      const { client, json } = contextOf(command)
      return create(client, json, name, options)
    })

  keys
    .command('revoke')
    .description('revoke a key; it acts at once')
    .argument('<id>', 'its id in the list', wholeOf)
    .option('--yes', 'yes, without being asked')
    .action((id: number, { yes }: { yes?: boolean }, command: Command) => {
      const { client, json } = contextOf(command)
      return revoke(client, json, id, yes === true)
    })
}
