import * as fs from 'node:fs'
import { join } from 'node:path'
import { readText, removeDurably, writeDurably } from '../files.ts'

/** The first line of every file of ours. */
export const fileMark = '# stockade: managed, do not edit'

/** The jail for bans by command: it can match nothing and costs nothing, and its bans survive a restart. */
export const ownJail = 'stockade'

/** A jail that runs for the seconds of a self-test. It protects nothing, so nobody else hears of it. */
export const testJail = 'stockade-probe'

/** A jail without a log or a filter, there for the seconds in which a program of ours runs by the action that it has. */
export const helperJail = 'stockade-helper'

/** Jails of moments, which are nobody's business but ours. */
export const passingJails: readonly string[] = [testJail, helperJail]

const ownFilterText = `${fileMark}
# Matches nothing: bans in the jail "stockade" are made by command.
[Definition]
failregex = ^\\b\\B<HOST>$
`

/** What the jail bans: `meta l4proto` of nftables takes a list only, and a single `-p` of iptables takes one word only. */
export type OwnProtocol = 'tcp,udp' | 'all'

const ownJailText = (protocol: OwnProtocol): string => `${fileMark}
[stockade]
enabled = true
filter = stockade
backend = polling
logpath = /dev/null
banaction = %(banaction_allports)s
protocol = ${protocol}
bantime = -1
maxretry = 1
`

export interface OwnFile {
  readonly path: string
  /** Null: the file is to go. */
  readonly text: string | null
}

const ownJailPath = (config: string): string => join(config, 'jail.d', 'zz-stockade-10-jail.local')

export const ownJailFiles = (config: string, protocol: OwnProtocol = 'tcp,udp'): OwnFile[] => [
  { path: join(config, 'filter.d', 'stockade.conf'), text: ownFilterText },
  { path: ownJailPath(config), text: ownJailText(protocol) },
]

/** What the file of our jail says now. */
export const readOwnProtocol = (config: string): OwnProtocol =>
  /^protocol = all$/m.test(readText(ownJailPath(config)) ?? '') ? 'all' : 'tcp,udp'

export const jailStateFile = (config: string, jail: string, enabled: boolean): OwnFile => ({
  path: join(config, 'jail.d', `zz-stockade-50-state-${jail}.local`),
  text: `${fileMark}\n[${jail}]\nenabled = ${enabled}\n`,
})

export const whitelistFile = (config: string): string => join(config, 'jail.d', 'zz-stockade-70-whitelist.local')

/**
 * The whitelist for fail2ban's next start. Sections of jails only: `ignoreip` in [DEFAULT] would hide the
 * administrator's own. `known/ignoreip` stands for that one, and only where there is one: else fail2ban would not start.
 */
export const whitelistText = (
  values: readonly string[],
  jails: readonly { readonly name: string; readonly hasOwn: boolean }[],
): string | null => {
  if (values.length === 0 || jails.length === 0) return null
  const stanzas = jails.map(
    ({ name, hasOwn }) => `[${name}]\nignoreip = ${hasOwn ? '%(known/ignoreip)s ' : ''}%(stockade_whitelist)s\n`,
  )
  return `${fileMark}\n[DEFAULT]\nstockade_whitelist = ${values.join('\n    ')}\n${stanzas.join('')}`
}

/** The values that such a file holds. */
export const whitelistValues = (text: string): string[] => {
  const list = /^stockade_whitelist = ([^\n]*(?:\n {4}[^\n]+)*)/m.exec(text)?.[1] ?? ''
  return list.split(/\s+/).filter(Boolean)
}

/** What an operator ordered for a jail: enabled or disabled; null when nothing. */
export const readState = (path: string): boolean | null => {
  const enabledText = /^enabled = (true|false)$/m.exec(readText(path) ?? '')?.[1]
  return enabledText === undefined ? null : enabledText === 'true'
}

/** Writes the files and returns how to undo it. Refuses to touch a file that is not ours. */
export const writeOwnFiles = (files: readonly OwnFile[]): (() => void) => {
  const before = files.map(({ path }) => ({ path, text: readText(path) }))
  for (const { path, text } of before) {
    if (text !== null && !text.startsWith(fileMark))
      throw new Error(`${path} exists and is not ours: it is left as it is`)
  }
  const put = ({ path, text }: OwnFile): void => {
    if (text === null) {
      if (fs.existsSync(path)) removeDurably(path)
    } else if (readText(path) !== text) writeDurably(path, text, 0o644)
  }
  const undo = (): void => before.forEach(put)
  try {
    files.forEach(put)
  } catch (error) {
    undo()
    throw error
  }
  return undo
}

export const allInPlace = (files: readonly OwnFile[]): boolean =>
  files.every(({ path, text }) => readText(path) === text)
