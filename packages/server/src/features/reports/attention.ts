import type { Report, ReportAttention } from '@stockade/contract'
import { entriesOf } from '@stockade/contract/records.ts'
import { levelOf } from '../servers/protection.ts'
import type { Server } from '../servers/registry.ts'
import type { Counts } from './figures.store.ts'

type Line = Report['attention'][number]

/** The worst first. */
const kinds: Readonly<Record<ReportAttention, (server: Server, needs: Needs) => string | null>> = {
  unprotected: server => (levelOf(server) === 'unprotected' ? (server.protection?.summary ?? '') : null),
  offline: ({ row }) => (row.status === 'offline' ? '' : null),
  cloned: ({ row }) => (row.clone === null ? null : ''),
  quarantined: ({ row }) => (row.quarantined_at === null ? null : (row.quarantine_reason ?? '')),
  degraded: server => (levelOf(server) === 'degraded' ? (server.protection?.summary ?? '') : null),
  failed_commands: ({ row }, { failed }) => {
    const n = failed.get(row.no)
    return n ? String(n) : null
  },
  old_agent: ({ row }, { version }) =>
    row.agent_version !== null && row.agent_version !== version ? row.agent_version : null,
}
interface Needs {
  readonly failed: Counts
  /** Of this installation, and so of the agents that it offers. */
  readonly version: string
}

/** Servers that need a look, grouped by what is wrong. */
export const attentionOf = (servers: readonly Server[], needs: Needs): Line[] =>
  entriesOf(kinds).flatMap(([kind, find]) =>
    servers.flatMap(server => {
      const detail = find(server, needs)
      const { id, hostname } = server.row
      return detail === null ? [] : [{ server: { id, hostname }, kind, detail: detail.slice(0, 300) }]
    }),
  )
