import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { readOr, recordOf } from '@stockade/contract/untrusted.ts'
import type { Command } from 'commander'
import { codeOf } from '@stockade/contract/error-code.ts'
import { Misuse } from './failure.ts'
import { print, printJson, printTable } from './print.ts'

/*
 * Several Stockades by name, in one file of the user's:
 *
 *   { "production": { "url": "https://stockade.example", "api_key_file": "production.key" } }
 *
 * A profile names the address together with the file of its key, so that a key is never sent to the server of another profile.
 */

export interface Profile {
  readonly url: string
  /** Absolute. */
  readonly keyFile: string
}

const fileOf = (env: NodeJS.ProcessEnv): string =>
  env.STOCKADE_PROFILES ??
  join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'stockade', 'profiles.json')

const profileOf = (name: string, value: unknown, file: string): Profile => {
  const { url, api_key_file: keyFile } = recordOf(value)
  if (typeof url !== 'string' || typeof keyFile !== 'string' || keyFile === '')
    throw new Misuse(`Profile ${name} in ${file} needs "url" and "api_key_file".`)
  return { url, keyFile: resolve(dirname(file), keyFile) }
}
const readProfiles = (env: NodeJS.ProcessEnv): ReadonlyMap<string, unknown> => {
  const file = fileOf(env)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT') return new Map()
    throw new Misuse(`${file} can't be read: ${code ?? 'unknown error'}.`)
  }
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw new Misuse(`${file} is not JSON.`)
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new Misuse(`${file} must hold one object with a profile under each name.`)
  return new Map(Object.entries(content))
}

/** The names of all profiles; none where the file can't be read. */
export const profileNames = (env: NodeJS.ProcessEnv): readonly string[] =>
  readOr([], () => [...readProfiles(env).keys()].sort())
/** @throws Misuse where there is none of that name, or it is not whole */
export const profileNamed = (name: string, env: NodeJS.ProcessEnv): Profile => {
  const profiles = readProfiles(env)
  if (!profiles.has(name)) {
    const names = [...profiles.keys()].sort().join(', ')
    throw new Misuse(`There is no profile ${name} in ${fileOf(env)}${names ? `, only ${names}` : ''}.`)
  }
  return profileOf(name, profiles.get(name), fileOf(env))
}

export const addProfiles = (program: Command): void => {
  program
    .command('profiles')
    .description('the servers that --profile names')
    .action((_options: object, command: Command) => {
      const file = fileOf(process.env)
      const profiles = [...readProfiles(process.env)].map(([name, value]) => ({
        name,
        ...profileOf(name, value, file),
      }))
      if (command.optsWithGlobals<{ json?: boolean }>().json)
        return printJson({
          file,
          profiles: profiles.map(({ name, url, keyFile }) => ({ name, url, api_key_file: keyFile })),
        })
      if (profiles.length === 0) return print(`There are no profiles in ${file}. See docs/guides/cli.md.`)
      printTable(
        ['PROFILE', 'ADDRESS', 'KEY FILE'],
        profiles.map(({ name, url, keyFile }) => [name, url, keyFile]),
      )
    })
}
