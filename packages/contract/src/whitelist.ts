import { Type } from 'typebox'
import type { Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { bounds, pages } from './limits.ts'
import { count, id, ip, ipOrRange, listOf, message, paging, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'

const tag = 'Whitelist'
const params = shape({ id })
const description = text(0, bounds.description)
const descriptionOrNone = Type.Optional(text(0, bounds.description, { default: '' }))
/** The share in percent that the whitelist would cover, typed by an administrator: from the refusal that asked for it. */
const confirmShare = Type.Optional(Type.Number({ minimum: 0, maximum: 100 }))
export const whitelistFormat = oneOf(['plain', 'json', 'csv'], { default: 'plain' })
export const syncStatus = oneOf(['synced', 'pending', 'failed', 'never'], { title: 'SyncStatus' })

export const whitelistEntry = resource('WhitelistEntry', {
  id,
  ip: Type.String({ examples: ['192.0.2.0/24'] }),
  description: Type.String(),
  created_by: Type.String(),
  created_at: timestamp,
  updated_at: timestamp,
  expires_at: field(nullable(timestamp), 'Time at which the entry is removed; null when it stays.'),
})
export type WhitelistEntry = Static<typeof whitelistEntry>

export const listWhitelist = endpoint('GET /whitelist', {
  tag,
  summary: 'List the whitelist',
  description: 'In the order of insertion. `search` looks in address and description.',
  access: 'read',
  query: shape({ search: Type.Optional(text(1, bounds.description)), ...paging(pages.whitelist) }),
  reply: listOf('whitelist', whitelistEntry),
})

export const getWhitelistEntry = endpoint('GET /whitelist/{id}', {
  tag,
  summary: 'Read one entry',
  access: 'read',
  params,
  reply: whitelistEntry,
  refusals: [404],
})

export const addToWhitelist = endpoint('POST /whitelist', {
  tag,
  summary: 'Whitelist an address or a range',
  description:
    'Host bits of a range are cleared. Active bans that it covers are lifted on every server. What is there already is refused. With `expires_at`, in the future and at most ten years ahead, the entry lifts itself at that time. A list that would cover more than 1/64 of public IPv4 (or IPv6) is refused with the figure, unless an administrator who is signed in repeats it as `confirm_share`; so with many entries and imports.',
  access: 'write',
  lasts: 'partly',
  leaves: { what: 'whitelist entries', most: bounds.whitelist, per: 'fleet' },
  fleet: true,
  body: shape({
    ip: ipOrRange,
    description: descriptionOrNone,
    expires_at: Type.Optional(nullable(timestamp)),
    confirm_share: confirmShare,
  }),
  status: 201,
  reply: shape({
    id,
    ip: Type.String(),
    description: Type.String(),
    created_by: Type.String(),
    created_at: timestamp,
    expires_at: nullable(timestamp),
    lifted_bans: field(count, 'Number of bans in force that the entry covers. A command lifts each of them.'),
  }),
  refusals: [409],
})

export const addManyToWhitelist = endpoint('POST /whitelist/bulk', {
  tag,
  summary: 'Whitelist many at once',
  description:
    'All or nothing: one invalid entry refuses the request and is named by its index. Duplicates are skipped; `added` counts the new ones.',
  access: 'write',
  lasts: 'partly',
  leaves: { what: 'whitelist entries', most: bounds.whitelist, per: 'fleet' },
  fleet: true,
  bodyLimit: bounds.largeBody,
  // Addresses are read one slice of the list at a time, not in one go by the validator: there may be hundreds of thousands.
  body: shape({
    entries: field(
      Type.Array(
        resource('NewWhitelistEntry', {
          ip: text(0, 64),
          description: descriptionOrNone,
          expires_at: Type.Optional(nullable(text(0, 64))),
        }),
        { maxItems: bounds.additions },
      ),
      'The entries.',
    ),
    confirm_share: confirmShare,
  }),
  status: 201,
  reply: shape({
    added: field(count, 'Number of new entries.'),
    entries: field(Type.Array(resource('AddedWhitelistEntry', { id, ip: Type.String() })), 'The new entries.'),
  }),
  refusals: [409],
})

export const describeWhitelistEntry = endpoint('PATCH /whitelist/{id}', {
  tag,
  summary: "Change an entry's description or end",
  description:
    'With `expires_at` null the entry stays for ever. An entry of a DNS name is refused with 409: only the name changes it.',
  access: 'write',
  lasts: 'partly',
  fleet: true,
  params,
  body: shape({ description: Type.Optional(description), expires_at: Type.Optional(nullable(timestamp)) }),
  reply: shape({
    id,
    ip: Type.String(),
    description: Type.String(),
    updated_at: timestamp,
    expires_at: nullable(timestamp),
  }),
  refusals: [404, 409],
})

export const removeFromWhitelist = endpoint('DELETE /whitelist/{id}', {
  tag,
  summary: 'Take an entry off the whitelist',
  description: 'An entry of a DNS name is refused with 409: remove the name.',
  access: 'write',
  lasts: false,
  fleet: true,
  params,
  reply: message,
  refusals: [404, 409],
})

export const removeManyFromWhitelist = endpoint('POST /whitelist/remove', {
  tag,
  summary: 'Take many entries off the whitelist',
  description:
    'At once: the servers hear of one new list. Ids that are gone already are passed over. With an entry of a DNS name all is refused with 409.',
  access: 'write',
  lasts: false,
  leaves: null,
  fleet: true,
  body: shape({ ids: field(Type.Array(id, { minItems: 1, maxItems: bounds.removals }), 'Ids of the entries.') }),
  reply: shape({ removed: field(count, 'Number of entries that were removed.') }),
  refusals: [409],
})

export const whitelistText = endpoint('GET /whitelist.txt', {
  tag,
  summary: 'The whitelist as text',
  description:
    'Comment lines that begin with `#` (title and time of generation), then one address or range a line. Has an `ETag`; answers 304 to a matching `If-None-Match`.',
  access: 'read',
  forAgents: true,
  reply: Type.String(),
  produces: 'text/plain',
})

export const checkWhitelist = endpoint('GET /whitelist/check/{ip}', {
  tag,
  summary: 'Whether an address is whitelisted',
  description: '`matched_entry` is the most specific entry that covers it.',
  access: 'read',
  params: shape({ ip }),
  reply: shape({
    ip: Type.String(),
    whitelisted: Type.Boolean(),
    matched_entry: field(
      nullable(
        resource('MatchedWhitelistEntry', {
          id,
          ip: Type.String(),
          description: Type.String(),
          expires_at: nullable(timestamp),
        }),
      ),
      'The most specific entry that covers the address; null when none does.',
    ),
  }),
})

export const importWhitelist = endpoint('POST /whitelist/import', {
  tag,
  summary: 'Import entries from a text',
  description:
    'Good lines go in, bad lines come back in `errors`, duplicates are counted in `skipped`. `plain` has entries one or several a line, with `# description` after them if wanted, as other programs write them, too; `csv` has the header `ip,description`, and `expires_at` if wanted; `json` is what the export gives, or its bare array. `line` counts from 1; for JSON it is the number of the entry. `errors` holds the first 10,000, `error_count` says how many there are. `description_prefix` is put before each description. `ids` are the entries that were added, as `POST /whitelist/remove` takes them; none where they are more than it takes.',
  access: 'write',
  lasts: 'partly',
  leaves: { what: 'whitelist entries', most: bounds.whitelist, per: 'fleet' },
  fleet: true,
  bodyLimit: bounds.largeBody,
  body: shape({
    format: Type.Optional(whitelistFormat),
    content: field(Type.String(), 'The text to import.'),
    description_prefix: field(Type.Optional(text(0, bounds.description)), 'Text to put before each description.'),
    confirm_share: confirmShare,
  }),
  reply: shape({
    imported: field(count, 'Number of new entries.'),
    skipped: field(count, 'Number of duplicates.'),
    errors: field(
      Type.Array(
        resource('ImportError', {
          line: field(count, 'Line number from 1, or number of the entry in JSON.'),
          value: field(Type.String(), 'What the line holds.'),
          error: field(Type.String(), 'Why it was refused.'),
        }),
      ),
      'The lines that were refused, at most 10,000.',
    ),
    error_count: field(count, 'Number of lines that were refused.'),
    ids: field(
      Type.Array(id, { maxItems: bounds.removals }),
      'Ids of the new entries; empty when there are more than `POST /whitelist/remove` accepts.',
    ),
  }),
  refusals: [409],
})

export const exportWhitelist = endpoint('GET /whitelist/export', {
  tag,
  summary: 'Export the whitelist',
  description:
    'As text unless `format` is `json`: `plain` is one entry a line, `csv` has the header `ip,description` and escapes what a spreadsheet would run. Where entries lift themselves, CSV has a third column, `expires_at`; `plain` knows no ends.',
  access: 'read',
  query: shape({ format: Type.Optional(whitelistFormat) }),
  reply: shape({
    whitelist: field(
      Type.Array(
        resource('ExportedWhitelistEntry', {
          ip: Type.String(),
          description: Type.String(),
          expires_at: nullable(timestamp),
        }),
      ),
      'The entries.',
    ),
    exported_at: timestamp,
  }),
  produces: ['text/plain', 'application/json', 'text/csv'],
})

export const whitelistSyncStatus = endpoint('GET /whitelist/sync-status', {
  tag,
  summary: 'Which servers hold the whitelist',
  description:
    '`last_sync` is when the agent confirmed what it read back from the engine, `entry_count` how many entries it read; `error` says why a server failed.',
  access: 'read',
  reply: shape({
    servers: field(
      Type.Array(
        resource('WhitelistSync', {
          id: uuid,
          hostname: Type.String(),
          last_sync: field(nullable(timestamp), 'Time at which the agent confirmed the list; null when it never did.'),
          sync_status: field(syncStatus, 'Whether the server holds the current list.'),
          entry_count: field(nullable(count), 'Number of entries that the agent read back; null when it is unknown.'),
          error: nullable(Type.String()),
        }),
      ),
      'All servers by host name.',
    ),
  }),
})

export const syncWhitelist = endpoint('POST /whitelist/sync', {
  tag,
  summary: 'Have servers apply the whitelist again',
  description: 'All servers, or those of `server_ids`. A key that is bound to one server may name that one.',
  access: 'write',
  lasts: false,
  leaves: null,
  forServerKeys: true,
  body: shape({ server_ids: Type.Optional(Type.Array(uuid, { minItems: 1, maxItems: 10_000 })) }),
  reply: shape({ message: Type.String(), servers_notified: field(count, 'Number of servers.') }),
})
