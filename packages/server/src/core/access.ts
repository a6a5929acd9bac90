import { scopesOf } from '@stockade/contract'
import type { Endpoint, Permission } from '@stockade/contract'
import { atLeast } from './actor.ts'
import type { Actor, KeyActor, Principal } from './actor.ts'
import { forbidden, unauthorized } from './problem.ts'
import type { Problem } from './problem.ts'
import { proofRefusal } from './proof.ts'

/** The part of an endpoint that says who may use it. */
type AccessRule = Pick<Endpoint, 'access' | 'tag' | 'scope' | 'fleet' | 'forServerKeys' | 'forAgents' | 'lasts'>

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
  const refused = actor.kind === 'key' ? scopeRefusal(actor, endpoint) : null
  if (refused) return refused
  switch (endpoint.access) {
    case 'session':
    case 'session-before-mfa':
      return sessionRefusal(actor, endpoint)
    case 'agent':
      return agentRefusal(actor)
    default:
      return (
        boundRefusal(actor, endpoint) ??
        mfaRefusal(actor) ??
        permissionRefusal(actor, endpoint.access, userId) ??
        fleetRefusal(actor, endpoint) ??
        proofFor(actor, endpoint)
      )
  }
}

const sessionRefusal = (actor: Principal, endpoint: AccessRule): Problem | null => {
  if (actor.kind !== 'user') return forbidden('This is about a signed-in user; an API key is not one.')
  return (endpoint.access === 'session' ? mfaRefusal(actor) : null) ?? proofFor(actor, endpoint)
}
const agentRefusal = (actor: Principal): Problem | null => {
  if (actor.kind !== 'key' || actor.serverNo === null)
    return forbidden('This is for agents: it needs an API key that is bound to a server.')
  return atLeast(actor.permission, 'write') ? null : needs('write')
}
/** A key that is bound to some servers, where the whole fleet is concerned; one that is bound to one server, where people decide. */
const boundRefusal = (actor: Principal, { access, fleet, forServerKeys }: AccessRule): Problem | null => {
  if (actor.kind !== 'key' || !actor.isBound) return null
  if (fleet)
    return forbidden(
      `This API key is bound to ${actor.accessTags.size > 0 ? 'some servers' : 'one server'}; this concerns the whole fleet.`,
    )
  return actor.serverNo !== null && !(forServerKeys ?? access !== 'write')
    ? forbidden(
        'This API key is bound to one server: it may queue commands, bans and unbans there, and nothing beyond. This needs a user, or a key that is not bound to one server.',
      )
    : null
}
const permissionRefusal = (
  actor: Principal,
  access: Permission | 'self',
  userId: number | undefined,
): Problem | null => {
  if (access !== 'self') return atLeast(actor.permission, access) ? null : needs(access)
  // A key is not its owner: else a key that may only read could make itself others, or end its owner's sessions.
  const isOwn = actor.kind === 'user' && actor.userId === userId
  return isOwn || actor.permission === 'admin' ? null : needs('admin')
}
const fleetRefusal = (actor: Principal, { fleet, access }: AccessRule): Problem | null =>
  fleet && (access === 'write' || access === 'admin') && actor.servers !== 'all'
    ? forbidden('This changes all servers, and you have access to some of them. It needs server_access "all".')
    : null
const proofFor = (actor: Principal, endpoint: AccessRule) => (endpoint.lasts === true ? proofRefusal(actor) : null)

/** A key with scopes, where the endpoint belongs to none of its families; what belongs to none is for keys without scopes. */
const scopeRefusal = ({ scopes }: KeyActor, endpoint: AccessRule): Problem | null => {
  const neededScopes = scopesOf(endpoint)
  return scopes === null || neededScopes.some(scope => scopes.has(scope))
    ? null
    : forbidden(
        `This API key is for ${[...scopes].join(', ')}; this needs ${neededScopes.join(' or ') || 'a key without scopes'}.`,
      )
}

const mfaRefusal = (actor: Principal): Problem | null => {
  if (!actor.mfaMissing) return null
  return actor.kind === 'user'
    ? forbidden('2FA is required here. Enable MFA first: POST /api/v1/auth/mfa/enable.')
    : forbidden('2FA is required here, and the owner of this API key has none. The owner must enable MFA.')
}
