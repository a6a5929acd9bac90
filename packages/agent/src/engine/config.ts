import * as fs from 'node:fs'
import { join } from 'node:path'
import { readOr } from '@stockade/contract/untrusted.ts'
import { asFields, asList, asText } from '../json.ts'
import type { Interpreter } from '../python/interpreter.ts'
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
  /** The `ignoreip` of every jail of a directory, word by word; null where there is none at all. */
  ignores(directory: string): Promise<ReadonlyMap<string, readonly string[] | null>>
  /** Where fail2ban looks for these paths, globs and variables of its configuration. */
  logPlaces(paths: readonly string[]): Promise<readonly LogPlace[]>
  socket(): Promise<string | null>
  /** The file in which fail2ban keeps the id of its process. */
  pidFile(): Promise<string | null>
  /** Checks these jails, or every enabled one, in the given directory (a staged copy, say), with what builds them. */
  check(jails: readonly string[] | null, directory?: string, streams?: boolean, trial?: Trial | null): Promise<Check>
}

interface Listing {
  readonly mark: string
  readonly socket: string | null
  readonly pidFile: string | null
  readonly jails: readonly ConfiguredJail[]
}

/** Reads and checks fail2ban's configuration with fail2ban's own classes. */
export const createEngineConfig = (needs: {
  directory: string
  python: Interpreter
  lister: string
  checker: string
}): EngineConfig => {
  let cached: Listing | null = null
  const markNow = createMark(needs.directory)

  const list = async (): Promise<Listing> => {
    const mark = markNow()
    if (cached?.mark !== mark) {
      const answer = asFields(JSON.parse(await needs.python.run(needs.lister, { config: needs.directory })))
      const path = (name: string): string | null => asText(answer[name]) || null
      cached = { mark, socket: path('socket'), pidFile: path('pidfile'), jails: asList(answer['jails']).map(jailOf) }
    }
    return cached
  }

  return {
    directory: needs.directory,
    jails: async (): Promise<readonly ConfiguredJail[]> => (await list()).jails,
    mark: markNow,
    async ignores(directory: string): Promise<ReadonlyMap<string, readonly string[] | null>> {
      const text = await needs.python.run(needs.lister, { config: directory, ignoreip: true })
      const jails = asList(asFields(JSON.parse(text))['jails']).map(asFields)
      return new Map(
        jails.map(({ name, ignoreip }) => [
          asText(name),
          typeof ignoreip === 'string' ? ignoreip.split(/[\s,]+/).filter(Boolean) : null,
        ]),
      )
    },
    async logPlaces(paths: readonly string[]): Promise<readonly LogPlace[]> {
      const text = await needs.python.run(needs.lister, { config: needs.directory, logpaths: paths })
      return asList(asFields(JSON.parse(text))['logpaths']).map(logPlaceOf)
    },
    socket: async (): Promise<string | null> => (await list()).socket,
    pidFile: async (): Promise<string | null> => (await list()).pidFile,
    async check(
      jails: readonly string[] | null,
      directory = needs.directory,
      streams = true,
      trial: Trial | null = null,
    ): Promise<Check> {
      const text = await needs.python.run(
        needs.checker,
        { config: directory, jails, streams, trial },
        { timeout: 20_000 },
      )
      const answer = asFields(JSON.parse(text))
      const found = Object.entries(asFields(answer['jails'])).map(([name, value]) => {
        const fields = asFields(value)
        const checked: CheckedJail = {
          enabled: fields['enabled'] === true,
          errors: asList(fields['errors']).map(error => asText(error)),
          stream: asList(fields['stream']) as (readonly Word[])[],
        }
        return [name, checked] as const
      })
      return { jails: new Map(found), errors: asList(answer['errors']).map(error => asText(error)) }
    },
  }
}

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
