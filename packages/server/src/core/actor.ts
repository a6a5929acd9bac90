import type { KeyScope, Permission, ProofMethod } from '@stockade/contract'
import { keysOf } from '@stockade/contract/records.ts'

export type Role = 'Admin' | 'Operator' | 'Viewer'
/** Servers by their internal number. */
export type ServerScope = 'all' | ReadonlySet<number>

interface Known {
  /** `anna`, `key:backup` or `system`, as in audit entries. */
  readonly name: string
  readonly ip: string
  readonly permission: Permission
  readonly servers: ServerScope
  /** Tags that the access is by: servers that get one of them later are seen too. Empty with access to all servers. */
  readonly accessTags: ReadonlySet<string>
  /** A second factor is required and not yet set up; of a key, by its owner. */
  readonly mfaMissing: boolean
}
/** Somebody signed in, by token or by cookie. */
export interface UserActor extends Known {
  readonly kind: 'user'
  readonly userId: number
  readonly sessionId: string
  readonly role: Role
  /** How it proves who it is before it does what is dangerous; null while nothing is to be proved. */
  readonly mustProve: readonly ProofMethod[] | null
}
/** An API key; bound to one server when `serverNo` is set, and maybe to servers with some tags. */
export interface KeyActor extends Known {
  readonly kind: 'key'
  readonly keyId: number
  readonly userId: number | null
  readonly serverNo: number | null
  /** It reaches one server, or servers with some tags, and nothing of the whole fleet. */
  readonly isBound: boolean
  /** Made for a host and not by a person: by its registration or by its enrolment. */
  readonly isOfHost: boolean
  /** Families of endpoints that it is for; null for all. */
  readonly scopes: ReadonlySet<KeyScope> | null
}
/** The program that speaks for one host. */
export interface AgentActor extends KeyActor {
  readonly serverNo: number
}
export interface Anonymous {
  readonly kind: 'anonymous'
  readonly ip: string
}
export type Principal = UserActor | KeyActor
export type Actor = Principal | Anonymous

const rank: Record<Permission, number> = { read: 1, write: 2, admin: 3 }
export const permissionOf: Record<Role, Permission> = { Viewer: 'read', Operator: 'write', Admin: 'admin' }
/** Role names are accepted in any letter case. */
export const roleNamed = (typed: string | undefined): Role =>
  keysOf(permissionOf).find(role => role.toLowerCase() === typed?.toLowerCase()) ?? 'Viewer'
export const atLeast = (has: Permission, needs: Permission): boolean => rank[has] >= rank[needs]
export const lower = (a: Permission, b: Permission): Permission => (rank[a] <= rank[b] ? a : b)

export const sees = (actor: { servers: ServerScope }, serverNo: number): boolean =>
  actor.servers === 'all' || actor.servers.has(serverNo)
