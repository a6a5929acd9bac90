import type { CallInput, Reply } from '@stockade/client'

export type Sections = Reply<'GET /settings'>
/** What may be sent to the import; the service checks it all before it changes anything. */
export type Given = CallInput<'POST /settings/import'>['body']

/** Every field that an export holds, with what it is until somebody sets it; null: what the server's environment says. */
const fieldDefaults = {
  'service.site_name': 'Stockade',
  'service.site_url': null,
  'service.timezone': 'UTC',
  'security.session_timeout': 604_800,
  'security.mfa_required': false,
  'security.passkey_required': 'off',
  'security.password_min_length': 8,
  'security.refuse_common_passwords': false,
  'security.self_tests': 'enrolment',
  'notifications.chat_enabled': false,
  'notifications.email_enabled': false,
  'notifications.daily_summary': false,
  'notifications.daily_summary_hour': 8,
  'integrations.reputation_enabled': false,
  'integrations.reputation_rate_limit': 1000,
} as const
export type FieldName = keyof typeof fieldDefaults
const fieldNames = Object.keys(fieldDefaults) as FieldName[]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads what was pasted: a whole export, or only its `settings`; null where it is neither. */
export const readExport = (text: string): Given | null => {
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    return null
  }
  if (!isObject(found)) return null
  if (isObject(found.settings)) return found as unknown as Given
  return Object.keys(found).length > 0 &&
    Object.keys(found).every(name => fieldNames.some(at => at.startsWith(`${name}.`)))
    ? ({ settings: found } as unknown as Given)
    : null
}

const fieldOf = (sections: unknown, name: FieldName): unknown => {
  const [section = '', field = ''] = name.split('.')
  const found = isObject(sections) ? sections[section] : undefined
  return isObject(found) ? found[field] : undefined
}

export interface FieldChange {
  readonly name: FieldName
  readonly from: unknown
  /** Null: what the server's environment says. */
  readonly to: unknown
}
/** What an import would change, field by field; with `merge: false` all that is not given goes back to its default. */
export const changesOf = (is: Sections, given: Given, merge: boolean): readonly FieldChange[] =>
  fieldNames.flatMap(name => {
    const from = fieldOf(is, name)
    const told = fieldOf(given.settings, name)
    const to = told === undefined ? (merge ? from : fieldDefaults[name]) : told
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ name, from, to }]
  })

/** What is given and not known here; the service refuses it by name. */
export const unknownOf = (given: Given): readonly string[] => {
  const sections: Record<string, unknown> = given.settings
  return Object.entries(sections).flatMap(([section, fields]) =>
    isObject(fields)
      ? Object.keys(fields)
          .map(field => `${section}.${field}`)
          .filter(name => !fieldNames.some(known => known === name))
      : [section],
  )
}
