import type { CallInput, Reply } from '@stockade/client'
import { keysOf } from '@stockade/contract/records.ts'
import { isRecord } from '@stockade/contract/untrusted.ts'
import { parsed } from '../../lib/stored.ts'

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
  'security.own_unban': false,
  'security.self_tests': 'enrolment',
  'notifications.chat_enabled': false,
  'notifications.email_enabled': false,
  'notifications.daily_summary': false,
  'notifications.daily_summary_hour': 8,
  'integrations.reputation_enabled': false,
  'integrations.reputation_rate_limit': 1000,
} as const
export type FieldName = keyof typeof fieldDefaults
const fieldNames = keysOf(fieldDefaults)

/** Whether it has settings. What they are is compared field by field below, and the service refuses what is wrong. */
const isExport = (found: object): found is Given => 'settings' in found && isRecord(found.settings)

/** Reads what was pasted: a whole export, or only its `settings`; null where it is neither. */
export const readExport = (text: string): Given | null => {
  const content = parsed(text)
  if (!isRecord(content)) return null
  if (isExport(content)) return content
  const bare = { settings: content }
  const sections = Object.keys(content)
  const areKnown = sections.every(name => fieldNames.some(at => at.startsWith(`${name}.`)))
  return sections.length > 0 && areKnown && isExport(bare) ? bare : null
}

const fieldOf = (sections: unknown, name: FieldName): unknown => {
  const [section = '', field = ''] = name.split('.')
  const fields = isRecord(sections) ? sections[section] : undefined
  return isRecord(fields) ? fields[field] : undefined
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
    const currentValue = fieldOf(given.settings, name)
    const to = currentValue === undefined ? (merge ? from : fieldDefaults[name]) : currentValue
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ name, from, to }]
  })

/** What is given and not known here; the service refuses it by name. */
export const unknownOf = (given: Given): readonly string[] => {
  const sections: Record<string, unknown> = given.settings
  return Object.entries(sections).flatMap(([section, fields]) =>
    isRecord(fields)
      ? Object.keys(fields)
          .map(field => `${section}.${field}`)
          .filter(name => !fieldNames.some(known => known === name))
      : [section],
  )
}
