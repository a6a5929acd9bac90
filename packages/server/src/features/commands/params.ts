import { bounds, commands, isJailName, isTemplateName } from '@stockade/contract'
import type { commands as contract, templates } from '@stockade/contract'
import { parseRange } from '../../core/ip.ts'
import { invalid } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'

export type Params = Readonly<Record<string, unknown>>

const optional: Partial<Record<contract.CommandType, readonly string[]>> = { 'ban-ip': ['duration', 'reason', 'force'] }

const jail = (at: string, value: unknown, everyJail: boolean): string => {
  if (isJailName(value) || (everyJail && value === '*')) return value
  throw invalid(`${at}.jail`, `${at}.jail must be a jail's name${everyJail ? ' or *' : ''}.`)
}
const ip = (at: string, value: unknown): string => {
  const range = typeof value === 'string' && value.length <= 64 ? parseRange(value) : null
  if (!range) throw invalid(`${at}.ip`, `${at}.ip must be an IPv4 or IPv6 address or a CIDR.`)
  return range.text
}
/** No engine bans more than this at once: a wider range is a slip of the finger. */
const banned = (at: string, value: unknown): string => {
  const text = ip(at, value)
  const range = parseRange(text)
  const widest = range?.bytes.length === 4 ? 16 : 32
  if (range && range.prefix !== null && range.prefix < widest)
    throw invalid(`${at}.ip`, `${at}.ip is a range wider than /${widest}; that is refused.`)
  return text
}
const duration = (at: string, value: unknown): number => {
  if (typeof value === 'number' && Number.isInteger(value) && (value === -1 || (value >= 1 && value <= bounds.seconds)))
    return value
  throw invalid(`${at}.duration`, `${at}.duration must be -1 (permanent) or 1 to ${bounds.seconds} seconds.`)
}
const port = (at: string, value: unknown): number => {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535) return value
  throw invalid(`${at}.port`, `${at}.port must be a port, 1 to 65535.`)
}
const reason = (at: string, value: unknown): string => {
  if (typeof value === 'string' && value.length <= bounds.reason) return tame(value, bounds.reason * 4)
  throw invalid(`${at}.reason`, `${at}.reason must be a text of at most ${bounds.reason} characters.`)
}
const force = (at: string, value: unknown): boolean => {
  if (typeof value === 'boolean') return value
  throw invalid(`${at}.force`, `${at}.force must be true or false.`)
}

const template = (at: string, value: unknown): number | string => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  if (isTemplateName(value)) return value
  throw invalid(`${at}.template_id`, `${at}.template_id must be the id or the name of a template.`)
}
const settingBounds = {
  maxretry: (value: number) => value >= 1 && value <= 1000,
  bantime: (value: number) => value === -1 || (value >= 1 && value <= bounds.seconds),
  findtime: (value: number) => value >= 1 && value <= bounds.seconds,
} as const
/** Settings of a deployment; which paths a log may have is for templates to say. */
const settings = (at: string, value: unknown): templates.TemplateSettings => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`${at}.settings`, `${at}.settings must be an object.`)
  for (const [name, setting] of Object.entries(value)) {
    const path = `${at}.settings.${name.slice(0, 64)}`
    if (name === 'logpath') {
      if (setting !== null && (typeof setting !== 'string' || setting.length < 1 || setting.length > 4096))
        throw invalid(path, `${path} must be a path, or null.`)
      continue
    }
    const fits = Object.hasOwn(settingBounds, name) ? settingBounds[name as keyof typeof settingBounds] : undefined
    if (!fits) throw invalid(path, `${path} is not a setting of templates.`)
    if (setting !== null && !(typeof setting === 'number' && Number.isInteger(setting) && fits(setting)))
      throw invalid(path, `${path} must be a whole number within its bounds, or null.`)
  }
  return value
}

/**
 * The parameters of a command as the agent gets them: only known ones, checked and canonical. `at` is where they stand in
 * the request.
 * @throws Problem 400 that names the parameter.
 */
export const checkParams = (type: contract.CommandType, given: Params = {}, at = 'params'): Params => {
  const required: readonly string[] = commands.commandParams[type]
  const known = [...required, ...(optional[type] ?? [])]
  for (const name of Object.keys(given))
    if (!known.includes(name)) throw invalid(`${at}.${name}`, `${at}.${name} is not a parameter of ${type}.`)
  for (const name of required)
    if (given[name] === undefined) throw invalid(`${at}.${name}`, `${at}.${name} is required for ${type}.`)
  switch (type) {
    case 'ban-ip':
      return {
        jail: jail(at, given.jail, false),
        ip: banned(at, given.ip),
        ...(given.duration === undefined ? {} : { duration: duration(at, given.duration) }),
        ...(given.reason === undefined ? {} : { reason: reason(at, given.reason) }),
        ...(given.force === undefined ? {} : { force: force(at, given.force) }),
      }
    case 'unban-ip':
      return { jail: jail(at, given.jail, true), ip: ip(at, given.ip) }
    case 'jail-status':
    case 'jail-enable':
    case 'jail-disable':
    case 'jail-reload':
      return { jail: jail(at, given.jail, false) }
    case 'reload-all':
    case 'service-restart':
    case 'self-test':
      return {}
    case 'deploy-template':
      return { template_id: template(at, given.template_id), settings: settings(at, given.settings) }
    case 'approve-whitelist':
      return { ip: ip(at, given.ip) }
    case 'approve-port':
      return { port: port(at, given.port) }
    case 'remove-template':
      // It need not exist any more: a host may still have it.
      if (isTemplateName(given.template_name)) return { template_name: given.template_name }
      throw invalid(`${at}.template_name`, `${at}.template_name must be the name of a template.`)
  }
}
