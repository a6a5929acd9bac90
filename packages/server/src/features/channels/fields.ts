import { isIP } from 'node:net'
import { hasControls, isMailAddress, isWebhook, webAddress } from '../../core/checks.ts'
import { invalid } from '../../core/problem.ts'
import { Refused } from '../../outgoing/outgoing.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Preset, PresetField } from './presets/preset.ts'
import type { FieldValues } from './request.ts'
import { faultOfTemplate } from './template.ts'

export interface FieldInput {
  readonly name: string
  readonly value: string | null
}

export const recipientsOf = (text: string): string[] =>
  text
    .split(/[,\s]+/)
    .map(address => address.trim())
    .filter(Boolean)

/** What is wrong with a value, as the end of a sentence; null for nothing. */
const faultOf = (field: PresetField, value: string, fields: FieldValues): string | null => {
  if (field.kind === 'template') return faultOfTemplate(value, fields.content_type ?? 'application/json')
  if (hasControls(value)) return 'must not hold control characters or line breaks'
  if (field.kind === 'url' && !isWebhook(value))
    return 'must be an address that begins with http:// or https://, without a user name'
  if (field.kind === 'base' && webAddress(value) !== value)
    return 'must be an address such as https://ntfy.example, without a slash at its end'
  if (field.kind === 'recipients') {
    const wrong = recipientsOf(value).find(address => !isMailAddress(address))
    return wrong === undefined ? null : 'must be e-mail addresses with commas between them'
  }
  return field.pattern && !field.pattern.test(value) ? (field.says ?? 'has a wrong form') : null
}

/** Where the secrets of a channel go: the origins of its addresses. */
const targetOf = (preset: Preset, fields: FieldValues): string =>
  preset.fields
    .filter(({ kind }) => kind === 'url' || kind === 'base')
    .map(({ name, default: usual }) => URL.parse(fields[name] ?? usual ?? '')?.origin ?? '')
    .join(' ')

/** The plain text of an input: lines of templates stay as they are. */
const trimmedOf = ({ kind }: PresetField, value: string | null): string => {
  if (kind === 'template') return value ?? ''
  const text = (value ?? '').trim()
  return kind === 'base' ? text.replace(/\/+$/, '') : text
}

const checkFields = (preset: Preset, fields: FieldValues): void => {
  for (const field of preset.fields) {
    const value = fields[field.name]
    if (value === undefined && field.required) throw invalid(field.name, `${field.name} is needed.`)
    const fault = value === undefined ? null : faultOf(field, value, fields)
    if (fault !== null) throw invalid(field.name, `${field.name} ${fault}.`)
  }
}

/**
 * The values after a change. A stored secret goes to no other target than the one that it was entered for, so it has to be sent again
 * with another one. @throws Problem 400 naming the field
 */
export const changedFields = (preset: Preset, before: FieldValues, changes: readonly FieldInput[]): FieldValues => {
  const after: Record<string, string> = { ...before }
  const givenNames = new Set<string>()
  for (const [index, { name, value }] of changes.entries()) {
    const field = preset.fields.find(known => known.name === name)
    if (!field) {
      const names = preset.fields.map(known => known.name).join(', ')
      throw invalid(`fields.${index}.name`, `${preset.name} has the fields ${names}.`)
    }
    givenNames.add(name)
    const trimmed = trimmedOf(field, value)
    if (trimmed === '') delete after[name]
    else after[name] = trimmed
  }
  checkFields(preset, after)
  const isMoved = Object.keys(before).length > 0 && targetOf(preset, before) !== targetOf(preset, after)
  const left = isMoved && preset.fields.find(({ name, secret }) => secret && before[name] && !givenNames.has(name))
  if (left) throw invalid(left.name, `${left.name} is stored for another address. Send it again with the new one.`)
  return after
}

/** Refuses addresses that may never be called, at once where no name has to be resolved. */
export const checkTargets = async (outgoing: Pick<Outgoing, 'reach'>, preset: Preset, fields: FieldValues) => {
  for (const { name, kind } of preset.fields) {
    const url = (kind === 'url' || kind === 'base') && fields[name] ? URL.parse(fields[name]) : null
    if (!url || !isIP(url.hostname.replace(/^\[|\]$/g, ''))) continue
    try {
      await outgoing.reach(url.hostname, Number(url.port) || (url.protocol === 'https:' ? 443 : 80))
    } catch (error) {
      if (error instanceof Refused) throw invalid(name, `${name} can't be used: ${error.message}`)
      throw error
    }
  }
}

/** The values with the defaults of the preset. */
export const withDefaults = (preset: Preset, fields: FieldValues): FieldValues => ({
  ...Object.fromEntries(
    preset.fields.flatMap(({ name, default: usual }) => (usual === undefined ? [] : [[name, usual]])),
  ),
  ...fields,
})
