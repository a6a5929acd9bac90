import type { Reply } from '@stockade/client'
import type { ProtectionLevel } from '@stockade/contract'
import type { Server, ServerRow } from '../../api/queries.ts'
import { Mark, State } from '../../kit/state.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { protectionTexts } from './protection.texts.ts'

const levelTones = { protected: 'ok', degraded: 'warn', unprotected: 'danger', unknown: 'neutral' } as const

interface Attention {
  readonly count: number
  readonly tone: 'danger' | 'warn'
}
/** The servers of a fleet that need a person, and how bad the worst of them is; null when all is well. */
export const worstOf = (summary: Reply<'GET /servers/summary'> | undefined): Attention | null => {
  if (!summary) return null
  const { unprotected, degraded } = summary.protection
  const count = unprotected + degraded + summary.counts.offline
  if (count === 0) return null
  return { count, tone: unprotected + summary.counts.offline > 0 ? 'danger' : 'warn' }
}

const Level = ({ level }: { level: ProtectionLevel }) => (
  <Mark tone={levelTones[level]}>{textsOf(protectionTexts).levels[level]}</Mark>
)

/** Online and protected are two things: only a server that is both has a green mark for being online. */
export const ServerState = ({ server, tinted = false }: { server: ServerRow | Server; tinted?: boolean }) => {
  const { status, protection } = server
  const isWell = protection.level === 'protected'
  return <State is={status} tinted={tinted} {...(status === 'online' && !isWell ? { tone: 'neutral' } : {})} />
}

/** The level of an online server. What is offline or pending says enough by that. */
export const ProtectionMark = ({ server }: { server: ServerRow | Server }) =>
  server.status === 'online' ? <Level level={server.protection.level} /> : null

/** A newer agent may know checks that this page does not. */
export const nameOfCheck = (id: string): string => {
  const names: Readonly<Record<string, string>> = textsOf(protectionTexts).checks
  return Object.hasOwn(names, id) ? (names[id] ?? id) : id
}
