import { Type } from 'typebox'
import type { Static, TProperties, TSchema } from 'typebox'
import { bounds } from './limits.ts'
import { jailNamePattern } from './names.ts'
import { queryBounds } from './query/fields.ts'
import { recordOf } from './untrusted.ts'

/** An object that has exactly these fields; inputs with others are refused, outputs with others are cut. */
export const shape = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false })

/** A shape with a name: the API document shows it as a component, and generated clients as a type. */
export const resource = <P extends TProperties>(title: string, properties: P, description?: string) =>
  Type.Object(properties, { additionalProperties: false, title, ...(description ? { description } : {}) })

/** An object with a name whose unknown fields are ignored, so that newer agents can talk to older servers. */
export const openResource = <P extends TProperties>(title: string, properties: P) => Type.Object(properties, { title })

const source = Symbol('source')
/** The schema that another one was made of by `field` or `nullable`; the schema itself if it was made by neither. */
export const sourceOf = (schema: { readonly [source]?: object }): object => schema[source] ?? schema

const derived = <T extends TSchema>(schema: T, changes: object): T =>
  Object.defineProperties(
    { ...schema },
    {
      ...Object.getOwnPropertyDescriptors(schema),
      ...Object.getOwnPropertyDescriptors({ [source]: sourceOf(schema), ...changes }),
    },
  )

/** The same schema with a description of what it means at this place. */
export const field = <T extends TSchema>(schema: T, description: string): T => derived(schema, { description })

/** The value, or null where it is unknown. */
export const nullable = <T extends TSchema>(schema: T) => {
  const { type, enum: values } = recordOf(schema)
  return Type.Unsafe<Static<T> | null>(
    derived(schema, { type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) }),
  )
}

export const oneOf = <const V extends readonly string[]>(values: V, options: object = {}) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options })

/** Input that matches one of the values in any letter case, such as role names. */
export const oneOfAnyCase = <const V extends readonly string[]>(values: V) =>
  Type.Unsafe<V[number] | Lowercase<V[number]>>({
    type: 'string',
    pattern: `^(?:${values.map(v => [...v].map(c => (/[a-z]/i.test(c) ? `[${c.toLowerCase()}${c.toUpperCase()}]` : c)).join('')).join('|')})$`,
  })

export const text = (minLength: number, maxLength: number, options: object = {}) =>
  Type.String({ minLength, maxLength, ...options })
export const count = Type.Integer({ minimum: 0 })
export const id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
export const uuid = Type.String({ format: 'uuid' })
/** ISO 8601, in replies always UTC with milliseconds: `2026-11-20T09:30:00.000Z`. Inputs take any offset. */
export const timestamp = Type.String({ format: 'date-time' })
/** One IPv4 or IPv6 address, in any valid textual form; replies are canonical (RFC 5952). */
export const ip = Type.String({ format: 'ip', maxLength: 64 })
/** One address, or a CIDR range. */
export const ipOrRange = Type.String({ format: 'ip-or-range', maxLength: 64 })
/** The name of a jail. */
export const jailName = Type.String({
  pattern: jailNamePattern,
  minLength: 1,
  maxLength: 64,
  errorMessage: 'must begin with a letter or digit; letters, digits, dot, underscore and hyphen follow, 64 in all',
})
export const message = resource('Message', { message: Type.String() })
export const permission = oneOf(['read', 'write', 'admin'], { title: 'Permission' })
export const role = oneOf(['Admin', 'Operator', 'Viewer'], { title: 'Role' })
export const roleInput = oneOfAnyCase(['Admin', 'Operator', 'Viewer'])
export const period = oneOf(['day', 'week', 'month'], { title: 'Period' })
/** Length of a period in seconds: a rolling window that ends now. */
export const periods = { day: 86_400, week: 7 * 86_400, month: 30 * 86_400 } as const
/** What was done on the way to another side, in order; the last one is the one that failed, if any. `ms` are milliseconds. */
export const steps = <const N extends readonly string[]>(title: string, names: N) =>
  Type.Array(resource(title, { name: oneOf(names), ok: Type.Boolean(), ms: count, detail: Type.String() }))
export const serverRef = resource('ServerRef', { id: uuid, hostname: Type.String() })
/** Fields of a list of servers that says how far each one is. Both texts describe fields. */
export const serverProgress = <State extends TSchema>(state: State, ofState: string, ofReason: string) => ({
  server: serverRef,
  state: field(state, ofState),
  reason: field(nullable(Type.String()), ofReason),
})

/** `page` and `limit` of a list: integers from 1; beyond the maximum is refused. */
export const paging = (limits: { readonly default: number; readonly maximum: number }) => ({
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: bounds.page, default: 1 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.maximum, default: limits.default })),
})

/** A search in the grammar of query/read.ts, on top of the other filters of a list; a malformed one is refused with 400 and its place. */
export const searchText = Type.Optional(
  Type.String({ maxLength: queryBounds.length, examples: ['jail:sshd -country:NL'] }),
)

/** The rows of a list under their own key. */
export const rowsUnder = <K extends string, T extends TSchema>(key: K, row: T) =>
  ({ [key]: Type.Array(row) }) as Record<K, ReturnType<typeof Type.Array<T>>>

/** A list reply: the rows under their own key, and the exact total that match. */
export const listOf = <K extends string, T extends TSchema>(key: K, row: T) =>
  shape({
    ...rowsUnder(key, row),
    total: count,
    page: count,
    limit: count,
  })

/** Every refusal has this body; validation adds `details`, one a field. */
export const problem = resource('Problem', {
  error: field(Type.String(), 'Short name of the kind of refusal.'),
  message: field(Type.String(), 'What was wrong and what to do.'),
  details: field(
    Type.Optional(
      Type.Array(
        resource('FieldProblem', {
          path: field(Type.String(), 'Path of the field, with dots.'),
          message: field(Type.String(), 'What is wrong with it.'),
        }),
      ),
    ),
    'What is wrong with each field.',
  ),
  step_up: field(
    Type.Optional(
      resource('StepUpRequired', {
        methods: field(
          Type.Array(oneOf(['password', 'totp', 'passkey', 'provider_a', 'provider_b'])),
          'Ways that the user can choose from.',
        ),
      }),
    ),
    'Ways to prove the identity, which a session by cookie must do first.',
  ),
  seal_required: field(
    Type.Optional(resource('SealRequired', { servers: field(Type.Array(Type.String()), 'Host names, at most 100.') })),
    'Servers that accept these commands only with an operator signature.',
  ),
  coverage: field(
    Type.Optional(
      resource('WhitelistCoverage', {
        family: field(oneOf(['ipv4', 'ipv6']), 'Family of addresses that the figures are about.'),
        percent: field(Type.Number(), 'Share of the public addresses that the whitelist would cover, in percent.'),
        limit_percent: field(Type.Number(), 'Largest share that needs no confirmation, in percent.'),
      }),
    ),
    'How much of the Internet the whitelist would cover; an administrator repeats `percent` as `confirm_share`.',
  ),
})
export type ProblemBody = Static<typeof problem>
