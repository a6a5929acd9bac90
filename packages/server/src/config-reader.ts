import { readFileSync } from 'node:fs'
import { codeOf } from '@stockade/contract/error-code.ts'

export class ConfigError extends Error {}

/** The variables of an environment, by their names without `STOCKADE_`. What is empty counts as not set. Each refusal throws a ConfigError. */
export interface Reader {
  text(name: string): string | null
  /** A text from the variable itself, or from the file that `NAME_FILE` names, so that it is not in the process's environment. */
  secret(name: string): string | null
  whole(name: string, fallback: number, from: number, to: number): number
  /** 1 or 0. */
  flag(name: string): boolean
  choice(name: string, choices: readonly string[], fallback: string): string
  /** As it was written. `protocols` as in `https:`. */
  address(name: string, protocols: readonly string[]): string | null
  /** The same without a slash at its end. */
  url(name: string, protocols: readonly string[]): string | null
  postgresUrl(name: string): string | null
  refuse(name: string, problem: string): never
}

const refuse = (name: string, problem: string): never => {
  throw new ConfigError(`STOCKADE_${name} ${problem}`)
}
const readSecretFile = (name: string, file: string): string => {
  try {
    return readFileSync(file, 'utf8').trim() || refuse(name, 'names an empty file.')
  } catch (error) {
    if (error instanceof ConfigError) throw error
    return refuse(name, `can't be read: ${codeOf(error) ?? 'unknown error'}.`)
  }
}

export const createReader = (env: Readonly<Record<string, string | undefined>>): Reader => {
  const text = (name: string): string | null => env[`STOCKADE_${name}`] || null
  const secret = (name: string): string | null => {
    const file = text(`${name}_FILE`)
    if (file === null) return text(name)
    if (text(name) !== null) refuse(name, `and STOCKADE_${name}_FILE are both set; set one of them.`)
    return readSecretFile(`${name}_FILE`, file)
  }
  const address = (name: string, protocols: readonly string[]): string | null => {
    const value = text(name)
    if (value === null) return null
    const parsed = URL.parse(value)
    if (!parsed || !protocols.includes(parsed.protocol) || parsed.search || parsed.hash || parsed.username)
      return refuse(
        name,
        `must be an address that begins with ${protocols.map(p => `${p}//`).join(' or ')}, not "${value}".`,
      )
    return value
  }
  return {
    text,
    secret,
    refuse,
    address,
    whole(name, fallback, from, to) {
      const value = text(name)
      if (value === null) return fallback
      const number = Number(value)
      return /^\d+$/.test(value) && number >= from && number <= to
        ? number
        : refuse(name, `must be a whole number from ${from} to ${to}, not "${value}".`)
    },
    flag(name) {
      const value = text(name) ?? '0'
      return value === '1' || (value === '0' ? false : refuse(name, `must be 1 or 0, not "${value}".`))
    },
    choice(name, choices, fallback) {
      const value = text(name) ?? fallback
      const listed = choices.length > 2 ? `one of ${choices.join(', ')}` : choices.join(' or ')
      return choices.includes(value) ? value : refuse(name, `must be ${listed}, not "${value}".`)
    },
    url: (name, protocols) => address(name, protocols)?.replace(/\/+$/, '') ?? null,
    postgresUrl(name) {
      const value = secret(name)
      return value === null || /^postgres(ql)?:\/\//.test(value) ? value : refuse(name, 'must begin with postgres://.')
    },
  }
}
