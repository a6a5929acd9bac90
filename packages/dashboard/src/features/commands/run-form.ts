import { typedDuration } from '../../kit/duration-field.tsx'
import { durationTexts } from '../../kit/duration.texts.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { readRange } from '../../lib/address.ts'
import type { CommandType } from '../fleet/queries.ts'
import { isWide } from '../whitelist/lines.ts'
import { commandsTexts } from './commands.texts.ts'

/** What is typed into the form of a command. */
export interface TypedCommand {
  readonly type: CommandType
  readonly servers: ReadonlySet<string>
  readonly jail: string
  readonly ip: string
  readonly time: string
  readonly template: string
  /** A very wide range, once more. */
  readonly again: string
}

export const needsJail = ({ type }: TypedCommand) => type.startsWith('jail-') || type.endsWith('-ip')
export const needsIp = ({ type }: TypedCommand) => type.endsWith('-ip')
export const needsAgain = ({ type, ip }: TypedCommand) => type === 'ban-ip' && isWide(ip)

const secondsOf = ({ time }: TypedCommand) => typedDuration(time)
const jailError = (typed: TypedCommand) => {
  const t = textsOf(commandsTexts).dialog
  const jail = typed.jail.trim()
  if (!needsJail(typed)) return undefined
  if (jail === '') return typed.type === 'unban-ip' ? undefined : t.noJail
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(jail) ? undefined : t.wrongJail
}

/** What is wrong, by field. */
export const errorsOf = (typed: TypedCommand) => {
  const t = textsOf(commandsTexts).dialog
  const { type, ip, template, again, servers } = typed
  return {
    jail: jailError(typed),
    ip: needsIp(typed) && !readRange(ip) ? t.wrongIp : undefined,
    time: type === 'ban-ip' && secondsOf(typed) === null ? textsOf(durationTexts).wrong : undefined,
    template: type === 'remove-template' && template === '' ? t.noTemplate : undefined,
    again: needsAgain(typed) && again.trim() !== ip.trim() ? t.wideWrong : undefined,
    servers: servers.size === 0 ? t.noServers : undefined,
  }
}
export type RunErrors = Partial<ReturnType<typeof errorsOf>>

export const paramsOf = (typed: TypedCommand): Record<string, unknown> => {
  const { type, jail, ip, template } = typed
  const seconds = secondsOf(typed)
  return {
    ...(needsJail(typed) ? { jail: jail.trim() || '*' } : {}),
    ...(needsIp(typed) ? { ip: ip.trim() } : {}),
    ...(type === 'ban-ip' && typeof seconds === 'number' ? { duration: seconds } : {}),
    ...(type === 'remove-template' ? { template_name: template } : {}),
  }
}
