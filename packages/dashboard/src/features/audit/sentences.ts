import { keysOf, valueAt } from '@stockade/contract/records.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { duration, exactTime } from '../../lib/time.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { saidOf } from '../fleet/said-words.ts'
import type { CommandType } from '../fleet/queries.ts'
import type { Entry } from './audit-list.ts'
import { auditTexts } from './audit.texts.ts'
import type { Told } from './details.ts'
import { toldOf } from './details.ts'
import { settingName } from './setting-names.ts'

/* Entries of the log as sentences: what was done to what, and then what changed. */

export const actionWords = (action: string): string => valueAt(textsOf(auditTexts).actions, action) ?? action

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
/** The fields that name what an action was done to, the first that an entry has. */
const objects = [
  'hostname',
  'ip',
  'entry',
  'username',
  'sequence_name',
  'template_name',
  'display_name',
  'name',
  'field',
] as const
const objectOf = (details: Entry['details']) => {
  const key = objects.find(name => textOf(details[name]) !== undefined)
  return key && { key, text: String(details[key]) }
}

const paramsOf = (details: Entry['details']): Readonly<Record<string, unknown>> =>
  typeof details.params === 'object' && details.params !== null ? { ...details.params } : {}
const commandTypeOf = (type: unknown): CommandType | undefined =>
  keysOf(fleetTexts.en.types).find(known => known === type)
const commandWords = (details: Entry['details']): string => {
  const t = textsOf(auditTexts)
  const params = paramsOf(details)
  const ip = textOf(params.ip)
  if (ip && details.type === 'ban-ip') return t.banned(clip(ip, 60).shown)
  if (ip && details.type === 'unban-ip') return t.unbanned(clip(ip, 60).shown)
  const { types } = textsOf(fleetTexts)
  const type = commandTypeOf(details.type)
  // A deployment has an entry of its own, which names the template.
  return t.sent(
    !type ? clip(String(details.type), 60).shown : type === 'deploy-template' ? types[type] : saidOf({ type, params }),
  )
}

type Named = Pick<Entry, 'action' | 'details'>
const isAsked = ({ action, details }: Named): boolean =>
  (action.startsWith('command.') && typeof details.type === 'string') || ['ban.create', 'ban.remove'].includes(action)
/** What was asked of a server, without the name of the server, which is not what it was done to. */
const splitServer = (entry: Named): { readonly what: Named; readonly hostname: string | undefined } => {
  if (!isAsked(entry)) return { what: entry, hostname: undefined }
  const { hostname, ...details } = entry.details
  return { what: { action: entry.action, details }, hostname: textOf(hostname) }
}

/** What happened, in one sentence that names the thing and the server that was asked. `size`: for how many servers it stands. */
export const sentenceOf = (entry: Named, size = 1): string => {
  const { what, hostname } = splitServer(entry)
  return hostname !== undefined && size === 1
    ? textsOf(auditTexts).onServer(whatOf(what), nameOf(hostname))
    : whatOf(what)
}
const whatOf = ({ action, details }: Named): string => {
  if (action.startsWith('command.') && typeof details.type === 'string')
    return action === 'command.create' ? commandWords(details) : `${actionWords(action)}: ${commandWords(details)}`
  const object = objectOf(details)
  if (!object) return actionWords(action)
  const objectName = object.key === 'field' ? (settingName(object.text) ?? object.text) : nameOf(object.text)
  const of = valueAt(textsOf(auditTexts).of, action)
  return of ? of(objectName) : `${actionWords(action)}: ${objectName}`
}

const isTime = (text: string) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)
const inSeconds = /(^|[._])(\w*duration|\w*timeout|within)$/
const valueWords = (name: string, text: string): string => {
  const t = textsOf(auditTexts)
  const values = valueAt<Readonly<Record<string, string>>>(t.values, name)
  if (values) return valueAt(values, text) ?? text
  if (name === 'fields') return text.split(', ').map(fieldWords).join(', ')
  if (text === 'true') return t.on
  if (text === 'false') return t.off
  if (isTime(text)) return exactTime(Date.parse(text)).slice(0, 19)
  return inSeconds.test(name) && /^-?\d+$/.test(text) ? duration(Number(text)) : text
}
/** The name of a detail as a person says it. */
const fieldWords = (name: string): string =>
  settingName(name) ?? valueAt(textsOf(auditTexts).fields, name) ?? clip(name.replaceAll('_', ' '), 60).shown

/** What the sentence has not said: changes first. */
export const detailsOf = (entry: Named): readonly Told[] => {
  const { action, details } = splitServer(entry).what
  const isCommand = action.startsWith('command.') && typeof details.type === 'string'
  const { type: _type, params: _params, ip: _ip, ...others } = details
  const { ip: _address, settings: _settings, template_id: _template, jail, ...more } = paramsOf(details)
  const object = objectOf(details)
  const rest = isCommand ? { ...others, ...(jail === '*' ? {} : { jail }), ...more } : { ...details }
  return toldOf(rest)
    .filter(({ name, to, from }) => to !== '–' || from !== undefined || name === details.field)
    .filter(({ name }) => isCommand || name !== object?.key || object.key === 'field')
    .map(({ name, from, to }) => ({
      name: name === details.field ? '' : fieldWords(name),
      ...(from === undefined ? {} : { from: valueWords(name, from) }),
      to: valueWords(name, to),
    }))
}
