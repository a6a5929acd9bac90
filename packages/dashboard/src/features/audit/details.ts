import { isRecord } from '@stockade/contract/untrusted.ts'

/** One thing that an entry tells: a value, or what it was and what it is now. */
export interface Told {
  readonly name: string
  readonly from?: string
  readonly to: string
}

const words = (value: unknown): string => {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'string') return value === '' ? '–' : value
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(words).join(', ')
  if (typeof value !== 'object') return JSON.stringify(value)
  const details = Object.entries(value).map(([name, each]) => `${name} ${words(each)}`)
  return details.length === 0 ? '–' : details.join(', ')
}
/** What says nothing to a person; it stands in the JSON. */
const dull = new Set([
  'id',
  'session_id',
  'user_id',
  'server_id',
  'sequence_id',
  'event_id',
  'agent_id',
  'version',
  'valid_agent_id',
  'template_id',
  'batch_id',
  'checks',
  'from_since',
  'since',
])
const isEmpty = (value: unknown): boolean => isRecord(value) && Object.keys(value).length === 0

/** The details of an entry as a person would tell them: first what changed from what to what, then the rest. */
export const toldOf = (details: Readonly<Record<string, unknown>>): readonly Told[] => {
  const { field, old_value, new_value, ...given } = details
  const changed: Told[] =
    typeof field === 'string' ? [{ name: field, from: words(old_value), to: words(new_value) }] : []
  const { old: before, new: after, fields: _fields, ...rested } = given
  const isPair = isRecord(before) && isRecord(after)
  if (isPair)
    for (const name of Object.keys(after)) changed.push({ name, from: words(before[name]), to: words(after[name]) })
  const others = isPair ? rested : given
  const rest: Told[] = []
  for (const [name, value] of Object.entries(others)) {
    if (dull.has(name) || isEmpty(value) || (name.startsWith('old_') && name.slice(4) in others)) continue
    const oldName = `old_${name}`
    if (oldName in others) changed.push({ name, from: words(others[oldName]), to: words(value) })
    else rest.push({ name, to: words(value) })
  }
  return [...changed, ...rest]
}
