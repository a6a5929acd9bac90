import { Ajv } from 'ajv'
import type { ErrorObject, ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { FormatsPlugin } from 'ajv-formats'
import type { ProblemBody } from '@stockade/contract'
import { parseIp, parseRange } from '../core/ip.ts'
import { Problem } from '../core/problem.ts'

const make = (coerceTypes: boolean, allErrors = true) => {
  const ajv = new Ajv({ coerceTypes, allErrors, strict: false, useDefaults: false, removeAdditional: false })
  ;(formats as unknown as FormatsPlugin)(ajv, ['date-time', 'date', 'email', 'uri'])
  // Without the library's `urn:uuid:` in front, which is not what is stored.
  ajv.addFormat('uuid', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i)
  ajv.addFormat('ip', text => parseIp(text) !== null)
  ajv.addFormat('ip-or-range', text => parseRange(text) !== null)
  return ajv
}
const strict = make(false)
/** Paths and queries are text: `limit=50` is the integer 50 there. In bodies `"50"` stays a string and is refused. */
const coercing = make(true)

/** A large body is refused for the first thing that is wrong with it. */
const hasty = make(false, false)

export const compileLargeBody = (schema: object): ValidateFunction => hasty.compile(schema)
export const compileBody = (schema: object): ValidateFunction => strict.compile(schema)
const decimal = /^-?\d+$/
/** Ajv reads `1e1`, `+5`, ` 5` and `0x10` as integers, too; the interface knows decimal ones only. */
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
/** As Fastify calls it: what is wrong stands in `errors`. */
interface TextValidator {
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
const patternWords: Record<string, string> = {
  '^[A-Za-z0-9_]+$': 'may hold letters, digits and underscores only',
  '^[A-Za-z]{2}$': 'must be a country code of two letters',
  '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$':
    'must begin with a letter or digit; letters, digits, dot, underscore and hyphen follow, 64 in all',
}

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
      return { path, message: `${name} ${patternWords[String(params.pattern)] ?? 'is not one of the allowed values'}` }
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

/** The first few things that are wrong, each with the field's dotted path. */
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
  // One sentence a field: the first thing that is wrong with it.
  return details.filter(detail => !seen.has(detail.path) && seen.add(detail.path)).slice(0, 20)
}

/** 400 with one sentence a field. */
export const validationProblem = (errors: readonly ErrorObject[] | null | undefined): Problem =>
  refusedDetails(detailsOf(errors))
export const refusedDetails = (details: NonNullable<ProblemBody['details']>): Problem => {
  const message = `${details.map(detail => detail.message).join('; ')}.`
  return new Problem(400, 'Bad Request', message.charAt(0).toUpperCase() + message.slice(1), { details })
}
