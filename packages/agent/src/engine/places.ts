import * as fs from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'
import { isRecord, readOr } from '@stockade/contract/untrusted.ts'
import { readText, realPath } from '../files.ts'
import { asFields, asList, asText, isList } from '../json.ts'

/* Where the files are that fail2ban names, when it runs in a container. */

/** A folder that fail2ban and the agent share, as each of them calls it. */
export interface SharedFolder {
  readonly inside: string
  readonly outside: string
}

/** `engine` of `agent.json`: how the agent reaches a fail2ban that has another file system. */
export interface EngineSettings {
  readonly socket: string | null
  readonly config: string | null
  readonly map: readonly SharedFolder[]
  /** Both may write here: the action that fail2ban loads, and what it notes. */
  readonly share: SharedFolder | null
}

export interface Places {
  /** fail2ban has another file system, so a path that it says is the agent's only where the map says so. */
  readonly isMapped: boolean
  readonly share: SharedFolder | null
  /** The agent's path for what fail2ban calls so; null: it lies in the container, or leads out of the folder that both share. */
  outside(path: string): string | null
  /** What fail2ban calls a path of the agent; null: it does not see it. */
  inside(path: string): string | null
}

/** The log of a jail that reads no file: it is the same everywhere. */
const nullDevice = '/dev/null'
const maxFolders = 50
const maxPath = 4096

/** One file system: every path is the same for both. */
export const samePlaces: Places = { isMapped: false, share: null, outside: path => path, inside: path => path }

/** Without a map: the same paths for both, unless fail2ban's socket has another path for it than for the agent. */
export const unlessApart = ({ hasOtherPaths }: { hasOtherPaths: () => boolean }): Places => {
  const same = (path: string): string | null => (hasOtherPaths() && path !== nullDevice ? null : path)
  return { isMapped: false, share: null, outside: same, inside: same }
}

/**
 * The deepest folder that holds a path decides. Links are followed before the agent opens anything: whoever rules the container can make them,
 * and they must not lead it to other files of the host.
 */
export const createPlaces = ({ map, share }: Pick<EngineSettings, 'map' | 'share'>): Places => {
  const folders = [...map, ...(share === null ? [] : [share])]
  return {
    isMapped: true,
    share,
    outside(path) {
      const clean = cleanPath(path)
      if (clean === nullDevice) return clean
      const place = clean === null ? null : translated(folders, clean, 'inside', 'outside')
      if (place === null || !lieWhereMapped(folders, place.folder)) return null
      return staysBelow(place.path, place.folder.outside) && isPlain(place.path) ? place.path : null
    },
    inside(path) {
      const clean = cleanPath(path)
      return clean === null ? null : (translated(folders, clean, 'outside', 'inside')?.path ?? null)
    },
  }
}

type Side = keyof SharedFolder

const translated = (
  folders: readonly SharedFolder[],
  path: string,
  from: Side,
  to: Side,
): { readonly folder: SharedFolder; readonly path: string } | null => {
  const [folder] = folders
    .filter(each => path === each[from] || path.startsWith(`${each[from]}/`))
    .sort((a, b) => b[from].length - a[from].length)
  return folder === undefined ? null : { folder, path: `${folder[to]}${path.slice(folder[from].length)}` }
}

/** Without `..` and double slashes; null: no absolute path. `/var/run` and `/run` are one folder, in containers as well. */
const cleanPath = (path: string): string | null => {
  if (!isAbsolute(path) || path.length > maxPath || path.includes('\0')) return null
  return normalize(path)
    .replace(/(?<=.)\/$/, '')
    .replace(/^\/var\/run(?=\/|$)/, '/run')
}

/** Whether a path, with links followed, lies below a folder. What is not there yet lies where its folder does. */
const staysBelow = (path: string, folder: string): boolean => {
  const top = readOr(null, () => fs.realpathSync(folder))
  const real = realPath(path)
  return top !== null && real !== null && (real === top || real.startsWith(`${top}/`))
}

/** In a folder that it has, the container can put a link in the place of a mapped one. */
const lieWhereMapped = (folders: readonly SharedFolder[], { outside }: SharedFolder): boolean =>
  folders.every(each => !outside.startsWith(`${each.outside}/`) || staysBelow(outside, each.outside))

/** Not a pipe or a device, from which a read may never come back. */
const isPlain = (path: string): boolean => {
  const stat = readOr(undefined, () => fs.statSync(path, { throwIfNoEntry: false }))
  return stat === undefined || stat.isFile() || stat.isDirectory()
}

/**
 * `engine` of `agent.json`; null: fail2ban has the agent's file system.
 *
 * @throws Error with a sentence, if it is not understood: a map that is half read would lead to wrong files
 */
export const readEngineSettings = (configDirectory: string): EngineSettings | null => {
  const file = join(configDirectory, 'agent.json')
  const text = readText(file)
  const engine: unknown = text === null ? undefined : asFields(readOr(null, () => JSON.parse(text)))['engine']
  if (engine === undefined || engine === null) return null
  if (!isRecord(engine)) throw new Error(`${file}: engine is not an object`)
  const fields = asFields(engine)
  const unknownName = Object.keys(fields).find(name => !['socket', 'config', 'map', 'share'].includes(name))
  if (unknownName !== undefined) throw new Error(`${file}: engine has no ${unknownName.slice(0, 100)}`)
  const path = (value: unknown, name: string): string => {
    const clean = cleanPath(asText(value))
    if (clean === null || clean === '/')
      throw new Error(`${file}: engine.${name} is not the absolute path of a folder or file`)
    return clean
  }
  const folder = (value: unknown, name: string): SharedFolder => {
    const { inside, outside } = asFields(value)
    return { inside: path(inside, `${name}.inside`), outside: path(outside, `${name}.outside`) }
  }
  const { socket, config, map, share } = fields
  if (map !== undefined && !isList(map)) throw new Error(`${file}: engine.map is not a list`)
  const rows = asList(map)
  if (rows.length > maxFolders) throw new Error(`${file}: engine.map has more than ${maxFolders} folders`)
  return {
    socket: socket === undefined ? null : path(socket, 'socket'),
    config: config === undefined ? null : path(config, 'config'),
    map: rows.map((row, index) => folder(row, `map[${index}]`)),
    share: share === undefined ? null : folder(share, 'share'),
  }
}

/** The places of this host, as its `agent.json` says. @throws Error with a sentence, if that is not understood */
export const readPlaces = (configDirectory: string): Places => {
  const settings = readEngineSettings(configDirectory)
  return settings === null ? samePlaces : createPlaces(settings)
}

/** Whether the folder that both share is where the map says it is. */
export const hasShare = ({ share, outside }: Places): boolean =>
  share === null || outside(share.inside) === share.outside

/** Said of a file of fail2ban that the agent cannot open. */
export const insideText = (file: string): string =>
  `${file} lies in the container of fail2ban, out of the agent's reach`
