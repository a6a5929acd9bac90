import type { Body } from './presets/preset.ts'

/* Placeholders such as {{title}}: no conditions, no loops, no expressions, and only names of a fixed list. */

export type Values = Readonly<Record<string, string | number>>

/** What a template of one's own may name. Fields of a channel are not among them: they may be secrets. */
const messageNames = [
  'title',
  'text',
  'severity',
  'status',
  'rule',
  'key',
  'link',
  'label',
  'at',
  'unix',
  'site',
  'site_url',
  'delivery',
] as const
/** Of one template. */
const mostPlaceholders = 50
/** Characters of a whole body. */
export const mostBody = 64 * 1024

const placeholder = /\{\{\s*([a-z_]+)\s*\}\}/g
const namesIn = (template: string): string[] => [...template.matchAll(placeholder)].map(([, name = '']) => name)

/** Puts values in one pass: what a value holds is never read as a template. */
export const fill = (template: string, values: Values, escape: (text: string) => string = text => text): string =>
  template.replace(placeholder, (_, name: string) => escape(String(values[name] ?? '')))

/** Fills the texts of a JSON value, so that no text can leave its place. */
export const fillJson = (body: Body, values: Values): Body => {
  if (typeof body === 'string') {
    const [, only] = /^\{\{\s*([a-z_]+)\s*\}\}$/.exec(body) ?? []
    const value = only === undefined ? undefined : values[only]
    return typeof value === 'number' ? value : fill(body, values)
  }
  if (Array.isArray(body)) return body.map((part: Body) => fillJson(part, values))
  if (body === null || typeof body !== 'object') return body
  return Object.fromEntries(Object.entries(body).map(([name, part]) => [name, fillJson(part, values)]))
}

/** What is wrong with a template of one's own, as the end of a sentence; null for nothing. */
export const faultOfTemplate = (template: string, type: string): string | null => {
  const names = namesIn(template)
  const unknown = names.find(name => messageNames.every(known => known !== name))
  if (unknown !== undefined) return `names {{${unknown}}}, which is none of ${messageNames.join(', ')}`
  if (names.length > mostPlaceholders) return `holds more than ${mostPlaceholders} placeholders`
  if (/\{\{|\}\}/.test(template.replace(placeholder, ''))) {
    if (type !== 'application/json') return 'holds {{ or }} that belong to no placeholder'
  }
  if (type !== 'application/json') return null
  try {
    const parsed: unknown = JSON.parse(template)
    return typeof parsed === 'object' && parsed !== null ? null : 'must be a JSON object or array'
  } catch {
    return 'must be JSON, with placeholders only inside its texts'
  }
}

/** Fills a template of one's own: texts of JSON, form values, or plain text. */
export const fillOwn = (template: string, type: string, values: Values): string => {
  if (type === 'application/json') return JSON.stringify(fillJson(JSON.parse(template), values))
  return fill(template, values, type === 'text/plain' ? undefined : encodeURIComponent)
}
