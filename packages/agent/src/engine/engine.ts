import { steadyNow } from '../clock.ts'
import { asList, isList } from '../json.ts'
import { createBannedReader, createLengthReader } from './banned.ts'
import type { BanLengths, BannedPlaces } from './banned.ts'
import type { Pickled, Word } from './pickle.ts'
import { createEngineSocket, EngineDown, EngineRefused } from './socket.ts'
import type { ReadReply } from './socket.ts'
import { passingJails } from './own-files.ts'
import { samePlaces } from './places.ts'
import type { Places } from './places.ts'

/** The agent's requests to fail2ban. Every method throws EngineDown or EngineRefused. */
/** Counts of a jail, by the names of the heartbeat. */
export interface JailCounts {
  readonly current_bans: number
  readonly total_banned: number
  readonly current_failed: number
  readonly total_failed: number
}
export interface JailAbilities {
  /** The program that decides whom the jail ignores; empty: none. */
  readonly ignoreCommand: string
  /** How many expressions find attempts, and how many take lines out again. */
  readonly expressions: number
  readonly ignoreExpressions: number
  readonly actions: readonly string[]
}

export interface Engine {
  /** Null while fail2ban is down. */
  version(): string | null
  /** Milliseconds since the connection to this daemon was made; null while it is down. */
  connectedFor(): number | null
  ping(): Promise<void>
  /** The jails that run now, or ran at most `maxAge` milliseconds ago. */
  jails(maxAge?: number): Promise<string[]>
  counts(jail: string): Promise<JailCounts>
  /** Times in seconds; -1: bans do not end. */
  thresholds(jail: string): Promise<{ maxretry: number; bantime: number; findtime: number }>
  /** What has to be so for the jail to ban anybody, as it is now. */
  abilities(jail: string): Promise<JailAbilities>
  /** Seconds; -1: bans do not end. */
  bantime(jail: string): Promise<number>
  /** What fail2ban calls the files that the jail reads, as in `sources`. */
  logpath(jail: string): Promise<string[]>
  /** What the jail reads: files, or of the journal what has all `FIELD=value` of one of the groups; null: not the journal. */
  sources(jail: string): Promise<{ files: string[]; journalMatches: string[][] | null }>
  actions(jail: string): Promise<string[]>
  /** The value of an action's option, with some of its tags still in it; null if the action has no such option. */
  actionOption(jail: string, action: string, option: string): Promise<string | null>
  /** jail -> addresses banned now, or at most `maxAge` milliseconds ago. A list that did not change is the same object. */
  banned(maxAge?: number): Promise<BannedPlaces>
  /** Which jails ban each of these addresses; those that are not banned may be left out. */
  jailsThatBan(ips: readonly string[]): Promise<Map<string, readonly string[]>>
  isBanned(jail: string, ip: string): Promise<boolean>
  /** How long each ban of the jail lasts. A list that did not change is the same object. */
  lengths(jail: string): Promise<BanLengths>
  ban(jail: string, ip: string): Promise<number>
  unban(jail: string, ip: string): Promise<number>
  unbanEverywhere(ip: string): Promise<number>
  /** Lifts many bans; addresses that are not banned are ignored. */
  unbanAll(jail: string, ips: readonly string[]): Promise<void>
  /** The addresses, ranges and names that the jail never bans, as fail2ban writes them. */
  ignored(jail: string): Promise<string[]>
  ignore(jail: string, values: readonly string[]): Promise<void>
  /** Each value must be in the list, exactly as fail2ban writes it. */
  unignore(jail: string, values: readonly string[]): Promise<void>
  attach(jail: string, name: string, file: string, options: Record<string, string>): Promise<void>
  /** The methods that an action in Python has; a firewall action has none. */
  actionMethods(jail: string, action: string): Promise<string[]>
  /** Calls a method of an action in Python. fail2ban does nothing else meanwhile. */
  callAction(jail: string, action: string, method: string, params: Record<string, string | number>): Promise<Pickled>
  /** Makes a jail that reads nothing and is not started. */
  addIdle(jail: string): Promise<void>
  /** The agent's path of the file in which fail2ban keeps its bans; null: there is none, or it lies in a container out of reach. */
  databaseFile(): Promise<string | null>
  /** What fail2ban calls that file, wherever it lies; null: it keeps its bans in no file. */
  databaseName(): Promise<string | null>
  /** What fail2ban calls the file that it logs to; null when it is none. */
  logTarget(): Promise<string | null>
  /** Makes fail2ban remember bans for so long, where its administrator chose no time. */
  keepHistory(seconds: number): Promise<void>
  status(jail: string): Promise<Pickled>
  stop(jail: string): Promise<void>
  /** Lifts the bans of a jail, so that nothing of them stays in fail2ban's table, and stops it. Does nothing where there is none. */
  dissolve(jail: string): Promise<void>
  /** The commands that build one jail; `["start", J]` is among them. */
  apply(stream: readonly (readonly Word[])[]): Promise<void>
  /** Puts one jail, or all of them, into the state that the stream describes, as `fail2ban-client reload` does; bans stay. */
  reload(jail: string | null, stream: readonly (readonly Word[])[]): Promise<void>
  close(): void
}

/** Looks that are due at the same time share one answer that may be so old, milliseconds. */
export const sharedAge = 1000

export { EngineDown, EngineRefused }
export type { BannedPlaces }

/** Milliseconds. A jail that is reloaded may have other actions. */
const propertiesKept = 1000

/** fail2ban's own `dbpurgeage`, seconds. Another one was chosen: rules of data protection may ask for it. */
const usualHistory = 86_400

interface EngineOptions {
  readonly socketPath: string
  /** Where the files are that fail2ban names; its own paths when not given. */
  readonly places?: Places
  readonly onUp: () => void
  readonly onDown: () => void
}

export const createEngine = (options: EngineOptions): Engine => {
  let version: string | null = null
  let since: number | null = null
  let greeting: Promise<void> | null = null

  const socket = createEngineSocket({
    path: options.socketPath,
    refusesLinks: options.places?.isMapped === true,
    onLost: () => {
      const wasUp = version !== null
      version = null
      since = null
      if (wasUp) options.onDown()
    },
  })

  /** The handshake of each new connection; requests wait for it. */
  const greet = async (): Promise<void> => {
    if (version !== null) return
    greeting ??= (async () => {
      try {
        const answer = await socket.call(['version'])
        version = String(answer)
        since = steadyNow()
        options.onUp()
      } finally {
        greeting = null
      }
    })()
    await greeting
  }

  const call = async (words: readonly Word[], timeout?: number, read?: ReadReply): Promise<Pickled> => {
    await greet()
    return socket.call(words, timeout, read)
  }

  const list = async (words: readonly Word[]): Promise<string[]> => strings(await call(words))
  const count = async (words: readonly Word[]): Promise<number> => Number(await call(words, 60_000))
  const allJails = async (): Promise<string[]> => jailNames(await call(['status']))
  const unbanAll = async (jail: string, ips: readonly string[]): Promise<void> => {
    for (const some of portions(ips)) await call(['set', jail, 'unbanip', ...some], 60_000)
  }

  const bannedReader = createBannedReader()
  return {
    version: () => version,
    connectedFor: () => (since === null ? null : steadyNow() - since),
    ping: async () => void (await call(['ping'])),
    jails: sharedJails(allJails, () => since),
    counts: async jail => countsOf(await call(['status', jail, 'short'])),
    async thresholds(jail) {
      const value = (what: string): Promise<number> => count(['get', jail, what])
      return { maxretry: await value('maxretry'), bantime: await value('bantime'), findtime: await value('findtime') }
    },
    abilities: jail => abilitiesOf(what => call(['get', jail, what])),
    bantime: jail => count(['get', jail, 'bantime']),
    logpath: jail => list(['get', jail, 'logpath']),
    async sources(jail) {
      const filter = pairs(pairs(await call(['status', jail, 'short'])).get('Filter') ?? null)
      const isJournal = filter.has('Journal matches')
      const journalMatches = isJournal ? lists(await call(['get', jail, 'journalmatch'])) : null
      return { files: strings(filter.get('File list')), journalMatches }
    },
    actions: jail => list(['get', jail, 'actions']),
    actionOption: createOptionReader(call, () => since),
    async banned(maxAge = 0) {
      if (since === null || bannedReader.readAt() < since || steadyNow() - bannedReader.readAt() >= maxAge)
        bannedReader.take(await call(['banned'], 20_000, bannedReader.read), steadyNow())
      return bannedReader.places()
    },
    jailsThatBan: async ips => (ips.length === 0 ? new Map() : jailsByAddress(ips, await call(['banned', ...ips]))),
    lengths: createLengthReader((jail, read) => call(['get', jail, 'banip', '--with-time'], 20_000, read)),
    isBanned: async (jail, ip) => (await count(['get', jail, 'banned', ip])) === 1,
    ban: (jail, ip) => count(['set', jail, 'banip', ip]),
    unban: (jail, ip) => count(['set', jail, 'unbanip', ip]),
    unbanEverywhere: ip => count(['unban', ip]),
    unbanAll,
    ignored: async jail => strings(await call(['get', jail, 'ignoreip'], 60_000)),
    // As a stream, since fail2ban echoes the whole list after each plain command.
    ignore: async (jail, values) => {
      for (const some of portions(values))
        await call(['server-stream', [['set', jail, 'addignoreip', ...some]]], 60_000)
    },
    unignore: async (jail, values) => {
      for (const some of portions(values))
        await call(['server-stream', some.map(value => ['set', jail, 'delignoreip', value])], 60_000)
    },
    attach: async (jail, name, file, extra) =>
      void (await call(['set', jail, 'addaction', name, file, JSON.stringify(extra)])),
    ...programsOf(call),
    ...databaseOf(call, options.places ?? samePlaces),
    async logTarget() {
      const target = await call(['get', 'logtarget'])
      return typeof target === 'string' && target.startsWith('/') ? target : null
    },
    async keepHistory(seconds) {
      if (Number(await call(['get', 'dbpurgeage'])) === usualHistory) await call(['set', 'dbpurgeage', String(seconds)])
    },
    status: jail => call(['status', jail]),
    stop: async jail => void (await call(['stop', jail], 60_000)),
    async dissolve(jail) {
      if (!(await allJails()).includes(jail)) return
      const actions = pairs(pairs(await call(['status', jail])).get('Actions') ?? null)
      await unbanAll(jail, strings(actions.get('Banned IP list')))
      await call(['stop', jail], 60_000)
    },
    async apply(stream) {
      for (const words of stream) await call(words, 60_000)
    },
    reload: async (jail, stream) => void (await call(['reload', jail ?? '--all', [], stream], 180_000)),
    close: () => socket.close(),
  }
}

const programsOf = (
  call: (words: readonly Word[]) => Promise<Pickled>,
): Pick<Engine, 'actionMethods' | 'callAction' | 'addIdle'> => ({
  actionMethods: async (jail, action) => strings(await call(['get', jail, 'actionmethods', action])),
  callAction: (jail, action, method, params) => call(['set', jail, 'action', action, method, JSON.stringify(params)]),
  addIdle: async jail => void (await call(['add', jail, 'polling'])),
})

const createOptionReader = (
  call: (words: readonly Word[]) => Promise<Pickled>,
  since: () => number | null,
): Engine['actionOption'] => {
  let lastQuestion: { readonly key: string; readonly at: number; readonly names: Promise<ReadonlySet<string>> } | null =
    null
  /** The options of an action; one answer serves the questions for many options. */
  const namesOf = (jail: string, action: string): Promise<ReadonlySet<string>> => {
    const key = `${jail}|${action}`
    if (lastQuestion?.key !== key || steadyNow() - lastQuestion.at > propertiesKept || since() === null)
      lastQuestion = {
        key,
        at: steadyNow(),
        names: call(['get', jail, 'actionproperties', action]).then(reply => new Set(strings(reply))),
      }
    return lastQuestion.names
  }
  return async (jail, action, option) => {
    try {
      // fail2ban logs an error for an option that an action does not have.
      if (!(await namesOf(jail, action)).has(option)) return null
      const value = await call(['get', jail, 'action', action, option])
      return typeof value === 'string' ? value : null
    } catch (error) {
      if (error instanceof EngineRefused) return null
      throw error
    }
  }
}

const jailsByAddress = (ips: readonly string[], reply: Pickled): Map<string, string[]> => {
  const rows = isList(reply) ? reply : []
  return new Map(ips.map((ip, index) => [ip, strings(rows[index])]))
}

const countsOf = (reply: Pickled): JailCounts => {
  const status = pairs(reply)
  const [actions, filter] = [pairs(status.get('Actions') ?? null), pairs(status.get('Filter') ?? null)]
  return {
    current_bans: countOf(actions.get('Currently banned')),
    total_banned: countOf(actions.get('Total banned')),
    current_failed: countOf(filter.get('Currently failed')),
    total_failed: countOf(filter.get('Total failed')),
  }
}

const databaseOf = (
  call: (words: readonly Word[]) => Promise<Pickled>,
  places: Places,
): Pick<Engine, 'databaseFile' | 'databaseName'> => {
  const databaseName = async (): Promise<string | null> => databasePathOf(await call(['get', 'dbfile']))
  return {
    databaseName,
    async databaseFile() {
      const name = await databaseName()
      return name === null ? null : places.outside(name)
    },
  }
}

const jailNames = (status: Pickled): string[] => {
  const names = pairs(status).get('Jail list')
  return typeof names === 'string'
    ? names
        .split(',')
        .map(name => name.trim())
        .filter(Boolean)
    : []
}

/** The jails, as `ask` names them now or named them at most `maxAge` milliseconds ago. `since`: of the connection; null: there is none. */
const sharedJails = (ask: () => Promise<string[]>, since: () => number | null): Engine['jails'] => {
  let last: { readonly at: number; readonly names: Promise<string[]> } | null = null
  return (maxAge = 0) => {
    const isOfNow = last !== null && last.at >= (since() ?? Infinity)
    if (last !== null && isOfNow && steadyNow() - last.at < maxAge) return last.names
    const newQuestion = { at: steadyNow(), names: ask().then(all => all.filter(name => !passingJails.includes(name))) }
    last = newQuestion
    newQuestion.names.catch(() => {
      if (last === newQuestion) last = null
    })
    return newQuestion.names
  }
}

/** Splits long commands, so that none blocks fail2ban's other work. */
const portions = (values: readonly string[]): string[][] => {
  const replies: string[][] = []
  for (let i = 0; i < values.length; i += 1000) replies.push(values.slice(i, i + 1000))
  return replies
}

const strings = (value: Pickled | undefined): string[] => asList(value).map(item => String(item))

const abilitiesOf = async (get: (what: string) => Promise<Pickled>): Promise<JailAbilities> => ({
  ignoreCommand: String((await get('ignorecommand')) ?? ''),
  expressions: strings(await get('failregex')).length,
  ignoreExpressions: strings(await get('ignoreregex')).length,
  actions: strings(await get('actions')),
})

/** `None` and `:memory:` are no files: fail2ban forgets its bans with its process. */
export const databasePathOf = (value: Pickled): string | null =>
  typeof value === 'string' && !/^(?:|none|:memory:|file::memory:.*)$/i.test(value.trim()) ? value : null

const lists = (value: Pickled): string[][] => (isList(value) ? value.map(strings) : [])

/** fail2ban's status is a list of [name, value] pairs. */
const countOf = (value: Pickled | undefined): number => Number(value ?? 0)
const pairs = (value: Pickled): Map<string, Pickled> => {
  const replyByJail = new Map<string, Pickled>()
  for (const pair of isList(value) ? value : []) {
    if (isList(pair)) replyByJail.set(String(pair[0]), pair[1] ?? null)
  }
  return replyByJail
}
