import { jailOfCommand } from '@stockade/contract/names.ts'
import type { Ban } from '../../api/queries.ts'

/** Each address of these bans once. */
export const addressesOf = (bans: Iterable<Pick<Ban, 'ip'>>): readonly string[] => [
  ...new Set([...bans].map(({ ip }) => ip)),
]

/** One order for each place that an address is banned in. */
export interface Target {
  readonly server_id: string
  readonly params: { readonly ip: string; readonly jail: string }
}
/** What has to be ordered to lift those that still hold. */
export const unbanTargets = (bans: Iterable<Ban>): readonly Target[] => {
  const targets = new Map<string, Target>()
  for (const { active, ip, jail: held, server } of bans) {
    const jail = jailOfCommand(held)
    if (active) targets.set(JSON.stringify([server.id, jail, ip]), { server_id: server.id, params: { ip, jail } })
  }
  return [...targets.values()]
}

type Row = Pick<Ban, 'ip' | 'jail' | 'server' | 'country' | 'asn' | 'asn_org' | 'banned_at' | 'expires_at' | 'active'>
/** A text for a spreadsheet, which must not take it for a formula. */
const cell = (value: string | boolean | null): string => {
  const text = value === null ? '' : String(value)
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe
}
const head = ['ip', 'jail', 'server', 'country', 'asn', 'asn_org', 'banned_at', 'expires_at', 'active'] as const
/** Rows as a file; times in ISO 8601, UTC. */
export const asFile = (bans: readonly Row[], format: 'csv' | 'json' | 'plain'): string => {
  const lines = bans.map(ban => head.map(name => (name === 'server' ? ban.server.hostname : ban[name])))
  switch (format) {
    case 'plain':
      return `${addressesOf(bans).join('\n')}\n`
    case 'json':
      return JSON.stringify(
        lines.map(line => Object.fromEntries(head.map((name, index) => [name, line[index] ?? null]))),
        null,
        2,
      )
    case 'csv':
      return [head.join(','), ...lines.map(line => line.map(cell).join(','))].map(line => `${line}\r\n`).join('')
  }
}

/** Addresses in groups that one search can name. */
export const groupsOf = (ips: readonly string[], most = 900): readonly (readonly string[])[] => {
  const groups: string[][] = []
  let length = 0
  for (const ip of ips) {
    const group = groups.at(-1)
    if (group && length + ip.length < most) group.push(ip)
    else groups.push([ip])
    length = group && groups.at(-1) === group ? length + ip.length + 1 : ip.length + 1
  }
  return groups
}
