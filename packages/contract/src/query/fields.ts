import { commandTypeNames } from '../command-types/names.ts'

/** How long a query may be, how many terms it may hold, and how deep its parentheses may go. */
export const queryBounds = { length: 1000, terms: 50, depth: 10, wildcards: 8 } as const

/**
 * `name`: the whole value, in any letter case, `*` for anything. `text`: occurs anywhere in the value. `prefix`: a name, or
 * a beginning that ends in a dot. `asn`: `64500` or `AS64500`. `time`: a date (a day in UTC), an ISO 8601 time, `now`, or `now-24h`.
 */
export type QueryFieldKind = 'name' | 'text' | 'prefix' | 'ip' | 'number' | 'choice' | 'time' | 'country' | 'asn' | 'id'

export interface QueryField {
  readonly name: string
  readonly kind: QueryFieldKind
  /** Every value that a `choice` may have. */
  readonly choices?: readonly string[]
  readonly example: string
}
export type QueryListing = 'bans' | 'commands' | 'audit' | 'servers'
/** The search language of one list. */
export interface QueryLanguage {
  readonly listing: QueryListing
  readonly fields: readonly QueryField[]
}

const yesNo = ['yes', 'no'] as const

/** The search language of each list. The user interface describes the fields in words. */
export const queryFields: Readonly<Record<QueryListing, QueryLanguage>> = {
  bans: {
    listing: 'bans',
    fields: [
      { name: 'ip', kind: 'ip', example: 'ip:203.0.113.0/24' },
      { name: 'jail', kind: 'name', example: 'jail:sshd' },
      { name: 'server', kind: 'name', example: 'server:web-*' },
      { name: 'tag', kind: 'name', example: 'tag:web' },
      { name: 'country', kind: 'country', example: 'country:NL' },
      { name: 'city', kind: 'text', example: 'city:"Sample Town"' },
      { name: 'asn', kind: 'asn', example: 'asn:64500' },
      { name: 'org', kind: 'text', example: 'org:"Example Hosting"' },
      { name: 'state', kind: 'choice', choices: ['active', 'expired', 'unbanned'], example: 'state:active' },
      { name: 'reported', kind: 'choice', choices: yesNo, example: 'reported:yes' },
      { name: 'score', kind: 'number', example: 'score:>80' },
      { name: 'by', kind: 'name', example: 'by:engine' },
      { name: 'times', kind: 'number', example: 'times:>=3' },
      { name: 'log', kind: 'text', example: 'log:"invalid user"' },
      { name: 'permanent', kind: 'choice', choices: yesNo, example: 'permanent:yes' },
      { name: 'banned', kind: 'time', example: 'banned:>2026-11-01' },
    ],
  },
  commands: {
    listing: 'commands',
    fields: [
      { name: 'type', kind: 'choice', choices: commandTypeNames, example: 'type:unban-ip' },
      { name: 'server', kind: 'name', example: 'server:web-*' },
      { name: 'tag', kind: 'name', example: 'tag:web' },
      { name: 'offline', kind: 'choice', choices: yesNo, example: 'offline:yes' },
      { name: 'by', kind: 'name', example: 'by:anna' },
      {
        name: 'status',
        kind: 'choice',
        choices: ['pending', 'running', 'completed', 'failed', 'timeout', 'cancelled'],
        example: 'status:failed,timeout',
      },
      { name: 'params', kind: 'text', example: 'params:203.0.113.7' },
      { name: 'output', kind: 'text', example: 'output:"no such jail"' },
      { name: 'batch', kind: 'id', example: 'batch:01a1fd3e-b8a1-7afb-9a73-996f3d0480f9' },
      { name: 'created', kind: 'time', example: 'created:>now-24h' },
    ],
  },
  audit: {
    listing: 'audit',
    fields: [
      { name: 'user', kind: 'name', example: 'user:anna' },
      { name: 'action', kind: 'prefix', example: 'action:auth.' },
      { name: 'ip', kind: 'ip', example: 'ip:198.51.100.7' },
      { name: 'details', kind: 'text', example: 'details:site_name' },
      { name: 'at', kind: 'time', example: 'at:>now-7d' },
    ],
  },
  servers: {
    listing: 'servers',
    fields: [
      { name: 'name', kind: 'name', example: 'name:web-*' },
      { name: 'ip', kind: 'ip', example: 'ip:198.51.100.0/24' },
      { name: 'status', kind: 'choice', choices: ['online', 'offline', 'pending'], example: 'status:offline' },
      {
        name: 'protection',
        kind: 'choice',
        choices: ['protected', 'degraded', 'unprotected', 'unknown'],
        example: 'protection:unprotected',
      },
      { name: 'description', kind: 'text', example: 'description:mail' },
      { name: 'os', kind: 'text', example: 'os:debian' },
      { name: 'engine', kind: 'name', example: 'engine:1.0*' },
      { name: 'agent', kind: 'name', example: 'agent:0.1*' },
      { name: 'jail', kind: 'name', example: 'jail:sshd' },
      { name: 'tag', kind: 'name', example: 'tag:web' },
    ],
  },
}
