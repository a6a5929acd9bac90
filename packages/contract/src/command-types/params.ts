import { Type } from 'typebox'
import { bounds } from '../limits.ts'
import { jailNamePattern, templateNamePattern } from '../names.ts'
import { ipOrRange, jailName } from '../common.ts'
import { field, text } from '../shapes.ts'

/* Parameters that several types of commands share. */

export const jailParam = { jail: jailName }
export const jailOrAll = field(
  Type.String({
    pattern: `^\\*$|${jailNamePattern}`,
    errorMessage: 'must be the name of a jail, or * for every jail',
  }),
  'Name of a jail, or `*` for every jail.',
)
export const address = field(ipOrRange, 'IPv4 or IPv6 address or range.')
/** A wider range is a slip of the finger, and no engine bans more than this at once. */
export const bannableAddress = field(
  Type.String({ format: 'bannable', maxLength: 64 }),
  'IPv4 or IPv6 address, or a range no wider than /16 (IPv4) or /32 (IPv6).',
)
export const banSeconds = field(
  Type.Integer({
    minimum: -1,
    maximum: bounds.seconds,
    not: { const: 0 },
    errorMessage: `must be -1 (permanent) or 1 to ${bounds.seconds} seconds`,
  }),
  'Length of the ban in seconds; -1 is permanent.',
)
export const reasonText = field(text(0, bounds.reason), 'Reason, for the history.')
export const cutOption = field(
  Type.Optional(Type.Boolean()),
  'Also ends TCP connections of the address that are open, and drops answers to connections that the server opens. Only for the shield (jail `stockade`).',
)
/** A template by its id or its name. */
export const templateReference = field(
  Type.Unsafe<number | string>({
    type: ['integer', 'string'],
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    pattern: templateNamePattern,
    errorMessage: 'must be the id or the name of a template',
  }),
  'Id or name of the template.',
)
export const templateNameParam = field(
  Type.String({ pattern: templateNamePattern, errorMessage: 'must be the name of a template' }),
  'Name of the template.',
)
export const previewDays = {
  days: field(Type.Optional(Type.Integer({ minimum: 1, maximum: 7 })), 'How far back the log is read; 1 by default.'),
}
export const portNumber = field(
  Type.Integer({ minimum: 1, maximum: 65_535, errorMessage: 'must be a port, 1 to 65535' }),
  'Port, 1 to 65535.',
)
