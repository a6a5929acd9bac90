import type { Server } from '../../api/queries.ts'

export const lines = ['called', 'heartbeat', 'jails', 'protected', 'ban'] as const
export type Line = (typeof lines)[number]
export type LineState = 'next' | 'waiting' | 'done'

/** Which lines of the way are done, which one is waited for, and which come after. */
export const progressOf = (
  server: Pick<Server, 'install' | 'jails' | 'protection'>,
): Readonly<Record<Line, LineState>> => {
  const { token_used_at, first_heartbeat_at, first_ban_at } = server.install
  const done: Record<Line, boolean> = {
    // A host that brings a key of its own never uses the token.
    called: token_used_at !== null || first_heartbeat_at !== null,
    heartbeat: first_heartbeat_at !== null,
    jails: first_heartbeat_at !== null && server.jails.some(jail => jail.enabled),
    protected: first_heartbeat_at !== null && server.protection.level !== 'unknown',
    ban: first_ban_at !== null,
  }
  const current = lines.find(line => !done[line])
  // The checks take a while, and an attacker does not wait for them.
  const also = current === 'protected' ? 'ban' : null
  const state = (line: Line): LineState =>
    done[line] ? 'done' : line === current || line === also ? 'waiting' : 'next'
  return {
    called: state('called'),
    heartbeat: state('heartbeat'),
    jails: state('jails'),
    protected: state('protected'),
    ban: state('ban'),
  }
}

export type Stall = 'no call' | 'no heartbeat' | 'no engine' | 'no jails' | null

/** What holds it up, if anything does: no call for a minute, no heartbeat half a minute after the token was used. */
export const stallOf = (
  server: Pick<Server, 'install' | 'jails' | 'engine_version'>,
  watchedSince: number,
  now: number,
): Stall => {
  const { token_used_at, first_heartbeat_at } = server.install
  if (first_heartbeat_at !== null) {
    if (server.engine_version === null) return 'no engine'
    return server.jails.some(jail => jail.enabled) || now - Date.parse(first_heartbeat_at) < 10_000 ? null : 'no jails'
  }
  if (token_used_at !== null) return now - Date.parse(token_used_at) >= 30_000 ? 'no heartbeat' : null
  return now - watchedSince >= 60_000 ? 'no call' : null
}
