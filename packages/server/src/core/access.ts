import { scopeOf } from '@stockade/contract'
import type { Endpoint, KeyScope, Permission } from '@stockade/contract'
import { atLeast } from './actor.ts'
import type { Actor, KeyActor, Principal } from './actor.ts'
import { forbidden, unauthorized } from './problem.ts'
import type { Problem } from './problem.ts'
import { proofRefusal } from './proof.ts'

/** The part of an endpoint that says who may use it. */
type AccessRule = Pick<Endpoint, 'access' | 'tag' | 'scope' | 'fleet' | 'stepUp'>

const roleOf: Record<Permission, string> = { read: 'Viewer', write: 'Operator', admin: 'Admin' }
const needs = (permission: Permission) =>
  forbidden(`This needs ${permission} permission (a user of role ${roleOf[permission]}).`)

/**
 * Why the caller may not use the endpoint at all, by the access that the contract declares; null where it may. The service decides
 * what the caller sees of it. `userId` is the one in the path, for endpoints about oneself.
 */
export const refusal = (actor: Actor, endpoint: AccessRule, userId?: number): Problem | null => {
  if (endpoint.access === 'public') return null
  if (actor.kind === 'anonymous') return unauthorized('Sign in, or send an API key, as "Authorization: Bearer ...".')
  if (actor.kind === 'key') {
    const refused = scopeRefusal(actor, endpoint)
    if (refused) return refused
  }
  if (endpoint.access === 'session' || endpoint.access === 'session-before-mfa') {
    if (actor.kind !== 'user') return forbidden('This is about a signed-in user; an API key is not one.')
    return (endpoint.access === 'session' ? mfaRefusal(actor) : null) ?? proofFor(actor, endpoint)
  }
  if (endpoint.access === 'agent') {
    if (actor.kind !== 'key' || actor.serverNo === null)
      return forbidden('This is for agents: it needs an API key that is bound to a server.')
    return atLeast(actor.permission, 'write') ? null : needs('write')
  }
  if (actor.kind === 'key' && actor.isBound && endpoint.fleet)
    return forbidden(
      `This API key is bound to ${actor.accessTags.size > 0 ? 'some servers' : 'one server'}; this concerns the whole fleet.`,
    )
  const barred = mfaRefusal(actor)
  if (barred) return barred
  // A key is not its owner: else a key that may only read could make itself others, or end its owner's sessions.
  const { access } = endpoint
  const may =
    access === 'self'
      ? (actor.kind === 'user' && actor.userId === userId) || actor.permission === 'admin'
      : atLeast(actor.permission, access)
  if (!may) return needs(access === 'self' ? 'admin' : access)
  if (endpoint.fleet && (access === 'write' || access === 'admin') && actor.servers !== 'all')
    return forbidden('This changes all servers, and you have access to some of them. It needs server_access "all".')
  return proofFor(actor, endpoint)
}

const proofFor = (actor: Principal, endpoint: AccessRule) => (endpoint.stepUp ? proofRefusal(actor) : null)

/** Whether a key with scopes is for that family; what has none is for keys without scopes. */
const inScope = (actor: Pick<KeyActor, 'scopes'>, scope: KeyScope | null): boolean =>
  actor.scopes === null || (scope !== null && actor.scopes.has(scope))
const scopeRefusal = (actor: KeyActor, endpoint: AccessRule): Problem | null =>
  inScope(actor, scopeOf(endpoint))
    ? null
    : forbidden(
        `This API key is for ${[...(actor.scopes ?? [])].join(', ')}; this needs ${scopeOf(endpoint) ?? 'a key without scopes'}.`,
      )

const mfaRefusal = (actor: Principal): Problem | null => {
  if (!actor.mfaMissing) return null
  return actor.kind === 'user'
    ? forbidden('A second factor is required here. Enable MFA first: POST /api/v1/auth/mfa/enable.')
    : forbidden('A second factor is required here, and the owner of this API key has none. The owner must enable MFA.')
}
