import { Ajv } from 'ajv'
import type { ErrorObject, ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { FormatsPlugin } from 'ajv-formats'
import type { ProblemBody } from '@stockade/contract'
import { parseIp, parseRange } from '../core/ip.ts'
import { Problem } from '../core/problem.ts'

const make = (coerceTypes: boolean, allErrors = true) => {
  // Verbose errors carry the schema, which holds the sentence for its pattern.
  const ajv = new Ajv({ coerceTypes, allErrors, strict: false, verbose: true })
  ;(formats as unknown as FormatsPlugin)(ajv, ['date-time', 'date', 'email', 'uri'])
  // The library's format also accepts the prefix `urn:uuid:`.
  ajv.addFormat('uuid', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i)
  ajv.addFormat('ip', text => parseIp(text) !== null)
  ajv.addFormat('ip-or-range', text => parseRange(text) !== null)
  return ajv
}
const strict = make(false)
/** Paths and queries are text, so `limit=50` becomes the integer 50. In bodies `"50"` stays a string and is refused. */
const coercing = make(true)

/** Large bodies: stops at the first error. */
const hasty = make(false, false)

export const compileLargeBody = (schema: object): ValidateFunction => hasty.compile(schema)
export const compileBody = (schema: object): ValidateFunction => strict.compile(schema)
const decimal = /^-?\d+$/
/** Refuses integers that are not decimal: Ajv would also accept `1e1`, `+5`, ` 5` and `0x10`. */
export const compileText = (schema: object): TextValidator => {
  const validate = coercing.compile(schema)
  const { properties = {} } = schema as { properties?: Record<string, { type?: unknown }> }
  const integers = Object.keys(properties).filter(name => properties[name]?.type === 'integer')
  if (integers.length === 0) return validate
  const check: TextValidator = data => {
    const given = data as Readonly<Record<string, unknown>>
    const odd = integers.find(name => typeof given[name] === 'string' && !decimal.test(given[name]))
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
}
/** The sentence that stands beside the pattern in the contract. */
const patternMessage = ({ parentSchema }: ErrorObject): string | undefined =>
  (parentSchema as { readonly errorMessage?: string } | undefined)?.errorMessage

const sentence = (error: ErrorObject, path: string): { path: string; message: string } => {
  const name = path || 'the request'
  const params = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'required': {
      const field = [path, String(params.missingProperty)].filter(Boolean).join('.')
      return { path: field, message: `${field} is required` }
    }
    case 'additionalProperties': {
      const field = [path, String(params.additionalProperty).slice(0, 100)].filter(Boolean).join('.')
      return { path: field, message: `${field} is not a known field` }
    }
    case 'type':
      return {
        path,
        message: `${name} must be ${[params.type]
          .flat()
          .map(type => (type === 'null' ? 'null' : `of type ${String(type)}`))
          .join(' or ')}`,
      }
    case 'format':
      return {
        path,
        message: `${name} must be ${formatWords[String(params.format)] ?? `a valid ${String(params.format)}`}`,
      }
    case 'pattern':
      return { path, message: `${name} ${patternMessage(error) ?? 'is not one of the allowed values'}` }
    case 'enum':
      return {
        path,
        message: `${name} must be one of ${(params.allowedValues as unknown[]).filter(value => value !== null).join(', ')}`,
      }
    case 'const':
    case 'not':
    case 'anyOf':
      return { path, message: `${name} has a value that is not allowed` }
    case 'minLength':
      return {
        path,
        message:
          Number(params.limit) === 1
            ? `${name} must not be empty`
            : `${name} must have at least ${String(params.limit)} characters`,
      }
    case 'maxLength':
      return { path, message: `${name} must have at most ${String(params.limit)} characters` }
    default:
      return { path, message: `${name} ${error.message ?? 'is not valid'}` }
  }
}

/** The first errors, each with the dotted path of its field. */
export const detailsOf = (errors: readonly ErrorObject[] | null | undefined): NonNullable<ProblemBody['details']> => {
  const details = (errors ?? []).slice(0, 40).map(error =>
    sentence(
      error,
      error.instancePath
        .slice(1)
        .split('/')
        .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
        .join('.'),
    ),
  )
  const seen = new Set<string>()
  // One sentence per field: its first error.
  return details.filter(detail => !seen.has(detail.path) && seen.add(detail.path)).slice(0, 20)
}

/** 400 with one sentence per field. */
export const validationProblem = (errors: readonly ErrorObject[] | null | undefined): Problem =>
  refusedDetails(detailsOf(errors))
export const refusedDetails = (details: NonNullable<ProblemBody['details']>): Problem => {
  const message = `${details.map(detail => detail.message).join('; ')}.`
  return new Problem(400, 'Bad Request', message.charAt(0).toUpperCase() + message.slice(1), { details })
}
