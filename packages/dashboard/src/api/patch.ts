import type { QueryClient } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import type { LiveMessage } from '@stockade/contract'
import type { Ban, Command, Me, Server } from './queries.ts'
import type { ReadAgain } from './read-again.ts'

type BanList = Reply<'GET /bans'>
type ServerList = Reply<'GET /servers'>
type Summary = Reply<'GET /servers/summary'>
/** What is kept under `commands`: lists, and statistics, which hold none. */
type CommandList = Partial<Pick<Reply<'GET /commands'>, 'commands'>>

/** What a live message changes in what is on screen. Rows change where they stand; none are added or moved. */
export const patch = (
  queries: QueryClient,
  message: LiveMessage,
  /** Marks what a message makes doubtful but does not carry; a flood of messages may spread this out. */
  readAgain: ReadAgain = key => void queries.invalidateQueries({ queryKey: key }),
): void => {
  switch (message.type) {
    case 'ban':
      patchBan(queries, message.data, readAgain)
      readAgain(['stats'], pauses.ban)
      return readAgain(['attackers', 'now'], pauses.attackers)
    case 'unban':
      patchBan(queries, message.data, readAgain)
      // What was reported stays counted after its end: of the statistics only those of the server say how many are banned now.
      return readAgain(['stats', message.data.server.id], pauses.ban)
    case 'server':
      return patchServer(queries, message.data, readAgain)
    case 'command':
      return patchCommand(queries, message.data, readAgain)
    case 'whitelist':
      // One message a host that confirmed, hundreds within seconds: the lists are read again, not patched.
      readAgain(['whitelist'], pauses.whitelist)
      return readAgain(['lookup'], pauses.whitelist)
    case 'fleet_ban':
      readAgain(['fleet-bans'], pauses.whitelist)
      // A sharing rule may have made it.
      readAgain(['rules'], pauses.whitelist)
      return readAgain(['lookup'], pauses.whitelist)
    case 'blocklist':
      return readAgain(['blocklists'], pauses.whitelist)
    case 'notice':
    case 'resync':
    case 'pulse':
      return
  }
}

/** How often it may be read again, in milliseconds: bans come in storms, news of a server are rare and waited for. */
const steady = (pause: number) => ({ pause, most: pause })
const pauses = {
  ban: { pause: 5000, most: 30_000 },
  attackers: { pause: 5000, most: 20_000 },
  server: steady(500),
  command: steady(1000),
  whitelist: steady(1000),
} as const

const patchBan = (queries: QueryClient, ban: Ban, readAgain: ReadAgain) => {
  queries.setQueriesData<BanList>({ queryKey: ['bans'] }, list =>
    list?.bans.some(row => row.id === ban.id)
      ? { ...list, bans: list.bans.map(row => (row.id === ban.id ? { ...row, ...ban } : row)) }
      : list,
  )
  queries.setQueryData<Reply<'GET /bans/{banId}'>>(['ban', ban.id], shown => (shown ? { ...shown, ...ban } : shown))
  // Its counts, and the first ban of a server that is being watched.
  readAgain(['server', ban.server.id], pauses.ban)
  readAgain(['attackers', 'listed'], pauses.attackers)
  readAgain(['lookup', ban.ip], pauses.command)
  const me = queries.getQueryData<Me>(['me'])
  if (me?.addresses.some(({ ip }) => ip === ban.ip)) readAgain(['me'], pauses.command)
}

const patchServer = (
  queries: QueryClient,
  data: Extract<LiveMessage, { type: 'server' }>['data'],
  readAgain: ReadAgain,
) => {
  const { id, hostname, status, protection: level, last_heartbeat, tags, deleted } = data
  const news = { hostname, status, last_heartbeat, tags }
  let isListed = false
  /**
   * The message has the level, and not its reason: rows with another one are read again; so is a row with the first sign of
   * life, since no message tells the first level and figures of a host.
   */
  let isStale = false
  let areTagsOld = false
  queries.setQueriesData<ServerList | Summary>({ queryKey: ['servers'] }, list => {
    if (!list || !list.servers.some(row => row.id === id)) return list
    isListed = true
    const servers = list.servers.map(row => {
      if (row.id !== id) return row
      const { protection } = row
      isStale ||= row.status === 'pending' && status === 'online'
      if (typeof protection === 'string') return { ...row, ...news, protection: level }
      isStale ||= protection.level !== level
      areTagsOld ||= 'tags' in row && row.tags.join() !== tags.join()
      return { ...row, ...news, protection: { ...protection, level } }
    })
    // The rows of both lists take the same news; heartbeats are not part of the summary, where they do no harm.
    return { ...list, servers } as typeof list
  })
  readAgain(deleted || isStale || !isListed ? ['servers'] : ['servers', 'summary'], pauses.server)
  // Which rows a search by tag finds is another matter than what they show.
  if (areTagsOld) readAgain(['servers'], pauses.server)
  if (areTagsOld || deleted || !isListed) readAgain(['tags'], pauses.server)
  if (!deleted) queries.setQueryData<Server>(['server', id], shown => (shown ? { ...shown, ...news } : shown))
  readAgain(['server', id], pauses.server)
}

const order = { pending: 0, running: 1, completed: 2, failed: 2, timeout: 2 } as const
/** An answer and a message may cross: what is further on wins. */
export const newer = (shown: Command | undefined, news: Command): Command =>
  shown && order[shown.status] > order[news.status] ? shown : news
const patchCommand = (queries: QueryClient, command: Command, readAgain: ReadAgain): void => {
  queries.setQueryData<Command>(['command', command.id], shown => newer(shown, command))
  let isListed = false
  queries.setQueriesData<CommandList>({ queryKey: ['commands'] }, list => {
    if (!list?.commands?.some(row => row.id === command.id)) return list
    isListed = true
    return { ...list, commands: list.commands.map(row => (row.id === command.id ? newer(row, command) : row)) }
  })
  if (!isListed) readAgain(['commands'], pauses.command)
  if (order[command.status] < order.completed) return
  readAgain(['commands', 'stats'], pauses.ban)
  if (command.type.endsWith('template')) readAgain(['template'], pauses.command)
  if (command.type.startsWith('jail')) readAgain(['server', command.server.id, 'jails'], pauses.command)
}
