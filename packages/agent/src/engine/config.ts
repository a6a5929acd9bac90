import * as fs from 'node:fs'
import { join, relative } from 'node:path'
import { isRecord, readOr } from '@stockade/contract/untrusted.ts'
import { asFields, asList, asText, isList } from '../json.ts'
import type { Fields } from '../json.ts'
import type { Interpreter } from '../python/interpreter.ts'
import { errorText } from '../text.ts'
import type { OwnFile } from './own-files.ts'
import type { Word } from './pickle.ts'

/** A jail as fail2ban's merged configuration has it, running or not. */
export interface ConfiguredJail {
  readonly name: string
  readonly enabled: boolean
  readonly filter: string
  readonly logpath: string
  /** With its options, such as `systemd[namespace=web]`. */
  readonly backend: string
  readonly maxretry: number | null
  readonly bantime: number | null
  readonly findtime: number | null
  /** The firewall action, with its options, such as `nftables[type=allports]`; empty where the jail has none. */
  readonly banaction: string
  /** Whether it has an action at all. */
  readonly hasAction: boolean
}

/** A path, a glob, or a variable such as `%(sshd_log)s`, as a jail names it. */
export interface LogPlace {
  readonly asked: string
  /** The paths and globs that it stands for; empty where this fail2ban does not define the variable. */
  readonly places: readonly string[]
  /** Whether one of them leads to a file. */
  readonly found: boolean
}

export interface CheckedJail {
  readonly enabled: boolean
  readonly errors: readonly string[]
  /** What the client would send to build this jail. */
  readonly stream: readonly (readonly Word[])[]
}

/** Whose expressions are tested: a template's own, its own with those of an included file of the host, or those of a filter of the host. */
export type Trial = 'own' | 'mixed' | 'host'

export interface Check {
  readonly jails: ReadonlyMap<string, CheckedJail>
  readonly errors: readonly string[]
}

export interface EngineConfig {
  readonly directory: string
  jails(): Promise<readonly ConfiguredJail[]>
  /** Changes whenever a file that jails are made of changes. */
  mark(): string
  /** The `ignoreip` of every jail, as it would be with these files of ours, word by word; null where there is none at all. */
  ignores(files: readonly OwnFile[]): Promise<ReadonlyMap<string, readonly string[] | null>>
  /** Where fail2ban looks for these paths, globs and variables of its configuration. */
  logPlaces(paths: readonly string[]): Promise<readonly LogPlace[]>
  socket(): Promise<string | null>
  /** The file in which fail2ban keeps the id of its process. */
  pidFile(): Promise<string | null>
  /** Checks these jails, or every enabled one. */
  check(jails: readonly string[] | null, asked?: Asked): Promise<Check>
}

interface Asked {
  /** The configuration is checked as it would be with these files of ours. */
  readonly files?: readonly OwnFile[]
  /** Whether what builds the jails is wanted; it is, unless said. */
  readonly streams?: boolean
  /** Judges the groups of the expressions, and tries them on lines that make bad ones slow. */
  readonly trial?: Trial | null
}

interface Listing {
  readonly mark: string
  readonly socket: string | null
  readonly pidFile: string | null
  readonly jails: readonly ConfiguredJail[]
}

/** Milliseconds. A link that only the container can follow may hide a change. */
const mappedListingKept = 300_000

/** Reads and checks fail2ban's configuration with fail2ban's own classes. */
export const createEngineConfig = (needs: {
  directory: string
  /** What fail2ban's programs call the directory, if they have another file system. */
  directoryInside?: string | null
  /** Where the programs of this host copy the configuration to. */
  runDirectory: string
  python: Interpreter
  lister: string
  checker: string
}): EngineConfig => {
  let cached: (Listing & { readonly at: number }) | null = null
  const markNow = createMark(needs.directory)
  const inside = needs.directoryInside ?? null

  /** Runs a program on the configuration, or on a copy of it that has these files. */
  const ask = async (program: string, input: Fields, files: readonly OwnFile[] = []): Promise<Fields> => {
    const staged = files.map(({ path, text }) => [relative(needs.directory, path), text])
    const common = { config: inside ?? needs.directory, files: staged, ...input }
    // A program that is stopped leaves its copy.
    const run = inside === null && files.length > 0 ? fs.mkdtempSync(join(needs.runDirectory, 'stage-')) : null
    try {
      return asFields(JSON.parse(await needs.python.run(program, { ...common, run })))
    } catch (error) {
      // The copy has another name each time, and a sentence that lasts stays the same.
      throw new Error(errorText(error).replace(/\/[^\s'"]*\/stockade-stage-\w+/g, common.config), { cause: error })
    } finally {
      if (run !== null) fs.rmSync(run, { recursive: true, force: true })
    }
  }

  const list = async (): Promise<Listing> => {
    const mark = markNow()
    const isOld = inside !== null && performance.now() - (cached?.at ?? 0) > mappedListingKept
    if (cached?.mark !== mark || isOld) {
      const answer = await ask(needs.lister, {})
      const path = (name: string): string | null => asText(answer[name]) || null
      const jails = asList(answer['jails']).map(jailOf)
      cached = { mark, at: performance.now(), socket: path('socket'), pidFile: path('pidfile'), jails }
    }
    return cached
  }

  return {
    directory: needs.directory,
    jails: async (): Promise<readonly ConfiguredJail[]> => (await list()).jails,
    mark: markNow,
    async ignores(files) {
      const answer = await ask(needs.lister, { ignoreip: true }, files)
      return new Map(
        asList(answer['jails'])
          .map(asFields)
          .map(({ name, ignoreip }) => [
            asText(name),
            typeof ignoreip === 'string' ? ignoreip.split(/[\s,]+/).filter(Boolean) : null,
          ]),
      )
    },
    logPlaces: async paths => asList((await ask(needs.lister, { logpaths: paths }))['logpaths']).map(logPlaceOf),
    socket: async (): Promise<string | null> => (await list()).socket,
    pidFile: async (): Promise<string | null> => (await list()).pidFile,
    async check(jails, { files = [], streams = true, trial = null } = {}) {
      const answer = await ask(needs.checker, { jails, streams, trial }, files)
      const jailEntries = Object.entries(asFields(answer['jails'])).map(([name, value]) => {
        const fields = asFields(value)
        const checked: CheckedJail = {
          enabled: fields['enabled'] === true,
          errors: asList(fields['errors']).map(error => asText(error)),
          stream: asList(fields['stream']).map(words => asList(words).filter(isWord)),
        }
        return [name, checked] as const
      })
      return { jails: new Map(jailEntries), errors: asList(answer['errors']).map(error => asText(error)) }
    },
  }
}

const isWord = (value: unknown): value is Word =>
  value === null ||
  ['string', 'number', 'boolean'].includes(typeof value) ||
  (isList(value) ? value.every(isWord) : isRecord(value) && Object.values(value).every(isWord))

/** Each thing that is wrong, with its jail; empty when all is well. */
export const faultsOf = (check: Check): string[] => [
  ...check.errors,
  ...[...check.jails].flatMap(([name, jail]) => jail.errors.map(error => `${name}: ${error}`)),
]

const jailOf = (value: unknown): ConfiguredJail => {
  const fields = asFields(value)
  const number = (name: string): number | null => (typeof fields[name] === 'number' ? fields[name] : null)
  return {
    name: asText(fields['name']),
    enabled: fields['enabled'] === true,
    filter: asText(fields['filter']),
    logpath: asText(fields['logpath']),
    backend: asText(fields['backend']),
    maxretry: number('maxretry'),
    bantime: number('bantime'),
    findtime: number('findtime'),
    banaction: asText(fields['banaction']),
    hasAction: fields['has_action'] === true,
  }
}

const logPlaceOf = (value: unknown): LogPlace => {
  const { asked, places, found } = asFields(value)
  return { asked: asText(asked), places: asList(places).map(place => asText(place)), found: found === true }
}

/** A change within this time after another one may leave a folder with the same time stamp, milliseconds. */
const stampSteps = 2000

/** Changes whenever a file that jails are made of changes. It is asked for each second or so, and the names in a folder change seldom. */
export const createMark = (directory: string, now: () => number = Date.now): (() => string) => {
  const places = ['', 'jail.d'].map(name => join(directory, name))
  let listed: { readonly stamps: string; readonly paths: readonly string[] } | null = null

  const pathsNow = (): readonly string[] => {
    const stats = places.map(place => fs.statSync(place, { throwIfNoEntry: false }))
    const stamps = stats.map(stat => `${stat?.ino}:${stat?.ctimeMs}`).join(' ')
    if (listed?.stamps === stamps) return listed.paths
    const paths = places
      .flatMap(place => readOr([], () => fs.readdirSync(place).map(name => join(place, name))))
      .filter(path => /\.(conf|local)$/.test(path))
    const isOld = stats.every(stat => Math.abs(now() - (stat?.ctimeMs ?? 0)) > stampSteps)
    listed = isOld ? { stamps, paths } : null
    return paths
  }

  return () =>
    pathsNow()
      .map(path => {
        const stat = fs.statSync(path, { throwIfNoEntry: false })
        return `${path}:${stat?.mtimeMs ?? 0}:${stat?.size ?? 0}`
      })
      .join('\n')
}
