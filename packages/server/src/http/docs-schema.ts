import { recordOf } from '@stockade/contract/untrusted.ts'

/*
 * Reads JSON Schemas for the documentation page: which fields there are, in words, and an example that fits. The
 * document is taken as data: whatever is not as expected is left out, nothing throws.
 */

export type Json = Readonly<Record<string, unknown>>
export const objectOf: (value: unknown) => Json = recordOf
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A line of a table of fields. */
export interface Field {
  readonly name: string
  readonly type: string
  readonly required: boolean
  /** Bounds, choices and default, in words. */
  readonly notes: readonly string[]
  readonly description: string
}

/** Deep enough for any real body; ends schemas that refer to themselves. */
const deepest = 6

/** Follows a `#/...` reference into the document. What stands beside the reference, such as a description, wins. */
export const resolve = (schema: unknown, document: Json): Json => {
  const { $ref, ...beside } = objectOf(schema)
  const reference = textOf($ref)
  if (!reference.startsWith('#/')) return objectOf(schema)
  const target = reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, part) => objectOf(value)[part.replaceAll('~1', '/').replaceAll('~0', '~')], document)
  // One step only: the contract makes no chains of references, and a circle would never end.
  return { ...objectOf(target), ...beside }
}

/** The shapes that a value may have: the branches of a union, or the schema itself. */
export const variantsOf = (schema: unknown, document: Json): Json[] => {
  const own = resolve(schema, document)
  const branches = [...listOf(own.anyOf), ...listOf(own.oneOf)]
  return branches.length > 0 ? branches.map(branch => resolve(branch, document)) : [own]
}

const typesOf = (schema: Json): string[] => [schema.type].flat().flatMap(type => textOf(type) || [])

/** The type in words: `integer`, `array of string (uuid)`, `string or null`. */
export const typeOf = (schema: unknown, document: Json, depth = 0): string => {
  const variants = variantsOf(schema, document)
  if (variants.length > 1 && depth < deepest)
    return [...new Set(variants.map(variant => typeOf(variant, document, depth + 1)))].join(' or ')
  const [own = {}] = variants
  if ('const' in own) return JSON.stringify(own.const)
  const words = typesOf(own).map(type => {
    if (type === 'array') return depth < deepest ? `array of ${typeOf(own.items, document, depth + 1)}` : 'array'
    return type === 'string' && own.format ? `string (${textOf(own.format)})` : type
  })
  return words.join(' or ') || (own.enum ? 'string' : 'any')
}

const number = (value: unknown): number | null => (typeof value === 'number' ? value : null)
const between = (from: number | null, to: number | null, what: string): string[] => {
  if (from !== null && to !== null) return [from === to ? `exactly ${from}${what}` : `${from} to ${to}${what}`]
  if (from !== null && from > Number.MIN_SAFE_INTEGER) return [`at least ${from}${what}`]
  return to === null ? [] : [`at most ${to}${what}`]
}
const notesOf = (schema: Json): string[] => [
  ...(schema.enum ? [`one of ${listOf(schema.enum).map(String).join(', ')}`] : []),
  ...between(number(schema.minimum), number(schema.maximum), ''),
  ...between(number(schema.minLength) || null, number(schema.maxLength), ' characters'),
  ...between(number(schema.minItems), number(schema.maxItems), ' items'),
  ...(textOf(schema.pattern) ? [`matches ${textOf(schema.pattern)}`] : []),
  ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
]

/** One field, and the fields inside it: `jails`, `jails[].name`. */
const fieldsOf = (schema: unknown, document: Json, name: string, required: boolean, depth = 0): readonly Field[] => {
  const own = resolve(schema, document)
  const line: Field = {
    name,
    type: typeOf(own, document),
    required,
    notes: variantsOf(own, document).flatMap(notesOf),
    description: textOf(own.description),
  }
  return [...(name ? [line] : []), ...insideOf(own, document, name, depth)]
}

/** The fields of an object, of the objects in an array, or of a union's objects. */
export const insideOf = (schema: unknown, document: Json, name: string, depth = 0): readonly Field[] => {
  if (depth >= deepest) return []
  return variantsOf(schema, document).flatMap(variant => {
    if (variant.items !== undefined) return insideOf(variant.items, document, `${name}[]`, depth + 1)
    const required = new Set(listOf(variant.required))
    const dot = name ? `${name}.` : ''
    const others = Object.values(objectOf(variant.patternProperties))[0] ?? variant.additionalProperties
    return [
      ...Object.entries(objectOf(variant.properties)).flatMap(([key, field]) =>
        fieldsOf(field, document, dot + key, required.has(key), depth + 1),
      ),
      ...(Object.keys(objectOf(others)).length > 0 ? fieldsOf(others, document, `${dot}*`, false, depth + 1) : []),
    ]
  })
}

const samples: Readonly<Record<string, string>> = {
  uuid: '01939d2c-6f00-7000-8000-000000000001',
  email: 'anna@mail.example',
  'date-time': '2026-11-20T09:30:00.000Z',
  date: '2026-11-20',
  uri: 'https://stockade.example/',
  ip: '192.0.2.7',
  'ip-or-range': '192.0.2.7',
}
/** Examples for fields that a pattern or a service restricts further than a type can say. */
const exampleByName: Readonly<Record<string, string>> = {
  username: 'anna',
  password: 'Correct-Horse-7',
  new_password: 'Correct-Horse-7',
  jail: 'sshd',
  hostname: 'web-01.example',
  code: '123456',
  role: 'Operator',
  name: 'example',
}

/** A value that fits the schema, as short as it can be: what is required, or else one field to show how it looks. */
// oxlint-disable-next-line complexity -- one case for each type of a schema
export const exampleOf = (schema: unknown, document: Json, name = '', depth = 0): unknown => {
  const [own = {}] = variantsOf(schema, document)
  if ('const' in own) return own.const
  const givenExample = listOf(own.examples)[0] ?? own.default ?? listOf(own.enum)[0]
  if (givenExample !== undefined) return givenExample
  switch (typesOf(own)[0]) {
    case 'integer':
    case 'number':
      return Math.max(number(own.minimum) ?? 1, 1)
    case 'boolean':
      return true
    case 'array':
      return depth < deepest && (number(own.maxItems) ?? 1) > 0
        ? Array.from({ length: Math.max(1, number(own.minItems) ?? 1) }, (_, index) =>
            shifted(exampleOf(own.items, document, '', depth + 1), index),
          )
        : []
    case 'object': {
      const properties = Object.entries(objectOf(own.properties))
      const required = properties.filter(([key]) => listOf(own.required).includes(key))
      const shownFields = required.length > 0 ? required : properties.slice(0, 1)
      return depth < deepest
        ? Object.fromEntries(shownFields.map(([key, field]) => [key, exampleOf(field, document, key, depth + 1)]))
        : {}
    }
    default:
      return samples[textOf(own.format)] ?? exampleByName[name] ?? 'text'
  }
}
/** Numbers in a row go up, so that a list of ports is not twice the same. */
const shifted = (value: unknown, by: number) => (typeof value === 'number' ? value + by : value)
