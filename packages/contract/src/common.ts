import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import { bounds } from './limits.ts'
import { jailNamePattern } from './names.ts'
import { problemReasons } from './problem-reasons.ts'
import type { ProblemReason } from './problem-reasons.ts'
import { queryBounds } from './query/fields.ts'
import { field, nullable, oneOf, oneOfAnyCase, resource, shape } from './shapes.ts'

export const count = Type.Integer({ minimum: 0 })
export const id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
export const uuid = Type.String({ format: 'uuid' })
/** ISO 8601, in replies always UTC with milliseconds: `2026-11-20T09:30:00.000Z`. Inputs take any offset. */
export const timestamp = Type.String({ format: 'date-time' })
/** One IPv4 or IPv6 address, in any valid textual form; replies are canonical (RFC 5952). */
export const ip = Type.String({ format: 'ip', maxLength: 64 })
/** One address, or a CIDR range. */
export const ipOrRange = Type.String({ format: 'ip-or-range', maxLength: 64 })
/** The name of a jail that a command names. */
export const jailName = Type.String({
  pattern: jailNamePattern,
  minLength: 1,
  maxLength: 64,
  errorMessage: 'must begin with a letter or digit; letters, digits, dot, underscore and hyphen follow, 64 in all',
})
/** The name of a jail as the engine of a host reports it: any one, so that no ban is lost. */
export const reportedJail = Type.String({
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  minLength: 1,
  maxLength: bounds.jail,
  errorMessage: `must be 1 to ${bounds.jail} characters, none of them a control character`,
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

export const problemReason = field(
  oneOf(Object.keys(problemReasons) as ProblemReason[]),
  'Why, as a code to decide by. Treat one that you do not know like the status.',
)

/** Every refusal has this body; validation adds `details`, one a field. */
export const problem = resource('Problem', {
  error: field(Type.String(), 'Short name of the kind of refusal.'),
  message: field(Type.String(), 'What was wrong and what to do.'),
  reason: problemReason,
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
