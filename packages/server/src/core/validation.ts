import { recordOf } from '@stockade/contract/untrusted.ts'
import { Ajv } from 'ajv'
import type { ErrorObject, ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { ProblemBody } from '@stockade/contract'
import type { Static, TSchema } from 'typebox'
import { isWider, widest } from '@stockade/contract/reach.ts'
import { parseIp, parseRange } from './ip.ts'
import { Problem } from './problem.ts'

const isBannable = (text: string): boolean => {
  const range = parseRange(text)
  return range !== null && !isWider(range, widest.banned)
}

const make = (coerceTypes: boolean, allErrors = true) => {
  // Verbose errors carry the schema, which holds the sentence for its pattern.
  const ajv = new Ajv({ coerceTypes, allErrors, strict: false, verbose: true })
  formats.default(ajv, ['date-time', 'date', 'email', 'uri'])
  // The library's format also accepts the prefix `urn:uuid:`.
  ajv.addFormat('uuid', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i)
  ajv.addFormat('ip', text => parseIp(text) !== null)
  ajv.addFormat('ip-or-range', text => parseRange(text) !== null)
  ajv.addFormat('bannable', isBannable)
  return ajv
}
const strict = make(false)
/** Paths and queries are text, so `limit=50` becomes the integer 50. In bodies `"50"` stays a string and is refused. */
const coercing = make(true)

/** Large bodies: stops at the first error. */
const hasty = make(false, false)

export const compileLargeBody = (schema: object): ValidateFunction => hasty.compile(schema)
export const compileBody = <S extends TSchema>(schema: S): ValidateFunction<Static<S>> =>
  strict.compile<Static<S>>(schema)
const decimal = /^-?\d+$/
/** Refuses integers that are not decimal: Ajv would also accept `1e1`, `+5`, ` 5` and `0x10`. */
export const compileText = (schema: object): TextValidator => {
  const validate = coercing.compile(schema)
  const properties = Object.entries(recordOf(recordOf(schema).properties))
  const integers = properties.flatMap(([name, property]) => (recordOf(property).type === 'integer' ? [name] : []))
  if (integers.length === 0) return validate
  const check: TextValidator = data => {
    const fields = recordOf(data)
    const odd = integers.find(name => typeof fields[name] === 'string' && !decimal.test(fields[name]))
    const valid = odd === undefined && validate(data)
    check.errors = odd === undefined ? (validate.errors ?? null) : [notDecimal(odd)]
    return valid
  }
  return check
}
/** A validator as Fastify calls it: `errors` holds the errors of the last call. */
export interface TextValidator {
  (data: unknown): boolean
  errors?: ErrorObject[] | null
}
const notDecimal = (name: string): ErrorObject => ({
  keyword: 'type',
  instancePath: `/${name}`,
  schemaPath: '#/type',
  params: { type: 'integer' },
})

const formatWords: Record<string, string> = {
  'date-time': 'an ISO 8601 time with an offset or Z, such as 2026-11-20T09:30:00Z',
  date: 'a date such as 2026-11-20',
  email: 'an e-mail address',
  uuid: 'a UUID',
  ip: 'an IPv4 or IPv6 address (no port, no zone, no leading zeros)',
  'ip-or-range': 'an IPv4 or IPv6 address or a CIDR (no port, no zone, no leading zeros)',
  bannable: 'an IPv4 or IPv6 address, or a CIDR no wider than /16 (IPv4) or /32 (IPv6)',
}
/** The sentence that stands beside the bound in the contract. */
const ownMessage = ({ parentSchema }: ErrorObject): string | undefined => {
  const { errorMessage } = recordOf(parentSchema)
  return typeof errorMessage === 'string' ? errorMessage : undefined
}
type Sentence = (error: ErrorObject, name: string, params: Readonly<Record<string, unknown>>) => string

const typeWords = (type: unknown) => (type === 'null' ? 'null' : `of type ${String(type)}`)
const notAllowed: Sentence = (_, name) => `${name} has a value that is not allowed`
/** The sentence of each keyword, where the contract has none of its own. */
const sentences: Readonly<Record<string, Sentence>> = {
  type: (_, name, { type }) => `${name} must be ${[type].flat().map(typeWords).join(' or ')}`,
  format: (_, name, { format }) => `${name} must be ${formatWords[String(format)] ?? `a valid ${String(format)}`}`,
  pattern: (_, name) => `${name} is not one of the allowed values`,
  enum: (_, name, { allowedValues }) =>
    `${name} must be one of ${[allowedValues]
      .flat()
      .filter(value => value !== null)
      .join(', ')}`,
  const: notAllowed,
  not: notAllowed,
  anyOf: notAllowed,
  minLength: (_, name, { limit }) =>
    limit === 1 ? `${name} must not be empty` : `${name} must have at least ${String(limit)} characters`,
  maxLength: (_, name, { limit }) => `${name} must have at most ${String(limit)} characters`,
}
const otherwise: Sentence = ({ message }, name) => `${name} ${message ?? 'is not valid'}`

const sentence = (error: ErrorObject, path: string): { path: string; message: string } => {
  const params = recordOf(error.params)
  const fieldOf = (name: unknown) => [path, String(name).slice(0, 100)].filter(Boolean).join('.')
  // These two are about a field inside the value.
  if (error.keyword === 'required') {
    const field = fieldOf(params.missingProperty)
    return { path: field, message: `${field} is required` }
  }
  if (error.keyword === 'additionalProperties') {
    const field = fieldOf(params.additionalProperty)
    return { path: field, message: `${field} is not a known field` }
  }
  const name = path || 'the request'
  // A length has a more exact sentence than the one beside the pattern.
  const own = error.keyword.endsWith('Length') ? undefined : ownMessage(error)
  if (own !== undefined) return { path, message: `${name} ${own}` }
  return { path, message: (sentences[error.keyword] ?? otherwise)(error, name, params) }
}

/** The first errors, each with the dotted path of its field. `at` is the path of the checked value in the request. */
export const detailsOf = (
  errors: readonly ErrorObject[] | null | undefined,
  at = '',
): NonNullable<ProblemBody['details']> => {
  const details = (errors ?? []).slice(0, 40).map(error => {
    const parts = error.instancePath
      .slice(1)
      .split('/')
      .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    return sentence(error, [at, ...parts].filter(Boolean).join('.'))
  })
  const usedNames = new Set<string>()
  // One sentence per field: its first error.
  return details.filter(detail => !usedNames.has(detail.path) && usedNames.add(detail.path)).slice(0, 20)
}

/** 400 with one sentence per field. */
export const validationProblem = (errors: readonly ErrorObject[] | null | undefined, at = ''): Problem =>
  refusedDetails(detailsOf(errors, at))
export const refusedDetails = (details: NonNullable<ProblemBody['details']>): Problem => {
  const message = `${details.map(detail => detail.message).join('; ')}.`
  // A path such as `params.ip` keeps its spelling; a plain name begins the sentence.
  const isPath = details[0]?.path.includes('.') ?? false
  const sentence = isPath ? message : message.charAt(0).toUpperCase() + message.slice(1)
  return new Problem(400, 'Bad Request', sentence, { details })
}
