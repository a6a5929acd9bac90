import { Type } from 'typebox'
import type { Static } from 'typebox'
import { count, ip, ipOrRange, timestamp } from '../common.ts'
import { bounds, times } from '../limits.ts'
import { field, nullable, oneOf, resource } from '../shapes.ts'
import { commandTypeOf } from './command-type.ts'
import { banSeconds, jailParam, previewDays } from './params.ts'

export const jailPreview = commandTypeOf({
  type: 'jail-preview',
  documentation:
    'Runs the expressions of a jail over the log of the last days on the server, and answers whom the jail would have banned with these settings. Nothing is banned or changed, and no line of the log leaves the server. The output is JSON.',
  permission: 'write',
  expiresAfter: () => times.commandTtlShort,
  params: {
    ...jailParam,
    ...previewDays,
    maxretry: field(
      Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      'Attempts until a ban. Without it that of the jail.',
    ),
    findtime: field(
      Type.Optional(Type.Integer({ minimum: 1, maximum: bounds.seconds })),
      'Seconds within which attempts count. Without it those of the jail.',
    ),
    bantime: field(
      Type.Optional(banSeconds),
      'Length of a ban in seconds; -1 is permanent. Without it that of the jail.',
    ),
    ignoreip: field(
      Type.Optional(Type.Array(ipOrRange, { maxItems: 100 })),
      'Addresses and ranges that the jail would ignore in place of its own list.',
    ),
  },
})

/** Why not all of the log was read. */
const previewCuts = ['bytes', 'entries', 'cpu', 'addresses'] as const

/** The output of `jail-preview` and `template-preview`, as JSON. */
export const jailPreviewResult = resource('JailPreviewResult', {
  jail: Type.String(),
  settings: resource('JailPreviewSettings', {
    maxretry: count,
    findtime: field(count, 'Seconds.'),
    bantime: field(Type.Integer(), 'Seconds; -1 is permanent.'),
  }),
  banned: field(count, 'Addresses that the jail would have banned.'),
  whitelisted: field(count, 'Addresses with as many attempts that the whitelist or the jail spares.'),
  signed_in: field(count, 'Of the banned ones, those from which somebody signed in by SSH later.'),
  addresses: field(
    Type.Array(
      resource('JailPreviewAddress', {
        ip,
        failures: field(count, 'Attempts of the address.'),
        banned_at: field(timestamp, 'Time of the first ban.'),
        bans: count,
        stopped: field(count, 'Attempts that came while it would have been banned.'),
        whitelisted: Type.Boolean(),
        signed_in_at: field(nullable(timestamp), 'The last sign-in by SSH, if it came after the first ban.'),
      }),
      { maxItems: 200 },
    ),
    'The first 200 of both, those with most attempts first.',
  ),
  failures: field(count, 'Attempts of all addresses.'),
  other_ids: field(count, 'Attempts of what is no address, such as a user name.'),
  log: resource('JailPreviewLog', {
    from: field(nullable(timestamp), 'Time of the first line that was read.'),
    to: field(nullable(timestamp), 'Time of the last line that was read.'),
    lines: count,
    long_lines: field(count, 'Lines of which only the first 8192 bytes were looked at.'),
    read_bytes: count,
    total_bytes: field(nullable(count), 'Size of the logs; null for a journal.'),
    cut: field(
      nullable(oneOf(previewCuts)),
      'The bound at which reading ended. `bytes`, `entries`: older lines were left out. `cpu`, `addresses`: newer ones. Null: all was read.',
    ),
  }),
})
export type JailPreviewResult = Static<typeof jailPreviewResult>
