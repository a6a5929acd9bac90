import type { Static, TObject, TSchema } from 'typebox'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What a role or an API key may do; each includes the ones before it. Viewer = read, Operator = write, Admin = admin. */
export type Permission = 'read' | 'write' | 'admin'

/**
 * Who may call an endpoint.
 *
 * - `public`: anyone, no credential needed.
 * - `session`: a signed-in user (token or cookie); an API key gets 403.
 * - `session-before-mfa`: the same, also while the user still has to set up a required second factor.
 * - `read`, `write`, `admin`: a user of that role or higher, or an API key of that permission or higher.
 * - `self`: the user named by `{userId}`, or an administrator.
 * - `agent`: an API key with `write` that is bound to a server.
 */
export type Access = 'public' | 'session' | 'session-before-mfa' | 'self' | 'agent' | Permission

/** A way in which somebody who is signed in proves again who it is. */
export type ProofMethod = 'password' | 'totp' | 'passkey' | 'provider_a' | 'provider_b'

/** Families of endpoints that an API key can be limited to. */
export const keyScopes = [
  'bans',
  'whitelist',
  'commands',
  'servers',
  'templates',
  'portknock',
  'siem',
  'settings',
  'users',
  'audit',
  'metrics',
  'agent',
] as const
export type KeyScope = (typeof keyScopes)[number]
const scopeOfTag: Readonly<Record<string, KeyScope>> = {
  Bans: 'bans',
  Whitelist: 'whitelist',
  Commands: 'commands',
  Servers: 'servers',
  Templates: 'templates',
  'Port knocking': 'portknock',
  SIEM: 'siem',
  Settings: 'settings',
  Users: 'users',
  'API keys': 'users',
}
/**
 * The families that an endpoint belongs to; none where only a key without scopes may call it. The keys of agents have the family `agent` and no other, so
 * this is also the list of what an agent's key reaches.
 */
export const scopesOf = ({
  access,
  tag,
  scope,
  forAgents,
}: Pick<Endpoint, 'access' | 'tag' | 'scope' | 'forAgents'>) => {
  const own = scope ?? (access === 'agent' ? 'agent' : scopeOfTag[tag])
  return [...(own === undefined ? [] : [own]), ...(forAgents ? (['agent'] as const) : [])]
}

/** Pro features of a licence that an endpoint can need. */
export type LicenceFeature = 'port_knocking' | 'siem' | 'custom_templates'

/** Which request budget an endpoint draws on: 100 a minute, 10 a minute, or none (liveness probes). */
export type RateClass = 'standard' | 'sensitive' | 'none'

export type ContentType = 'application/json' | 'text/plain' | 'text/csv'

/** Something that stays, and how much of it there may be at a time. */
export interface Leaving {
  /** In the plural, as in "blocklists". */
  readonly what: string
  readonly most: number
  /**
   * Of what the bound is. Of what the whole fleet has, somebody with access to some servers makes a tenth at most, so that nobody is kept from their work by
   * what a limited account leaves.
   */
  readonly per: 'fleet' | 'server' | 'user'
}

/** One operation of the interface, as a value: the server mounts it, the client types it, the documents print it. */
export interface Endpoint {
  readonly method: Method
  /** Relative to `/api/v1`, with `{name}` parameters. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly access: Access
  /**
   * True where it acts on the whole fleet or on accounts: a key that is bound to one server is refused, and changes of
   * `write` and `admin` are refused to callers with access to some servers only.
   */
  readonly fleet?: boolean
  /** Whether a key that is bound to one server may use it for that server: reads may be used unless it is said, changes of access `write` only if it is. */
  readonly forServerKeys?: boolean
  /** True for a read that the keys of agents may use for their own server, beside the endpoints of access `agent`. */
  readonly forAgents?: boolean
  /** True where a host in quarantine is still heard: what it needs to be seen and to end what it has begun. */
  readonly inQuarantine?: boolean
  /**
   * Of a change by people, whether it outlasts a session that was stolen: `true` where a session by cookie must have proved lately who it is (403 with
   * `step_up` else), `partly` where its content decides, `false` for everyday work, which ends by itself or which the next person takes back.
   */
  readonly lasts?: boolean | 'partly'
  /** What a request that adds something leaves behind, with its bound; `null` for nothing. */
  readonly leaves?: Leaving | null
  /** The family that a key needs, where `tag` does not say it. */
  readonly scope?: KeyScope
  readonly licence?: LicenceFeature
  readonly rate?: RateClass
  readonly params?: TObject
  readonly query?: TObject
  readonly body?: TSchema
  /** True where unknown fields of the body are ignored, so that newer agents can talk to older servers; OAuth's callbacks do so in the query. */
  readonly lenient?: boolean
  /** True where the answer may wait for something to happen, so its time says nothing about the server. */
  readonly held?: boolean
  /** Largest accepted body in bytes, decompressed; 1 MiB unless said. */
  readonly bodyLimit?: number
  /** Status of success. */
  readonly status: 200 | 201 | 302
  /** Shape of the JSON reply, or of the text where `produces` is one type of text. */
  readonly reply: TSchema
  /** What it answers with; JSON unless said. Of several, `reply` is the shape of the JSON, and the others are text. */
  readonly produces?: ContentType | readonly ContentType[]
  /** Statuses of refusals that are the endpoint's own, beside the ones that any endpoint can answer. */
  readonly refusals?: readonly number[]
}

type Name = `${Method} /${string}`
type Named<N extends Name> = N extends `${infer M extends Method} ${infer P}`
  ? { readonly method: M; readonly path: P }
  : never
type Declared = Omit<Endpoint, 'method' | 'path' | 'status'>

/**
 * Declares an endpoint by its name, such as `GET /servers/{serverId}`, and keeps its exact type, from which client calls and handlers are
 * typed. The status of success is 200 unless it is given.
 */
export function endpoint<const N extends Name, const E extends Declared & Pick<Endpoint, 'status'>>(
  name: N,
  value: E,
): E & Named<N>
export function endpoint<const N extends Name, const E extends Declared>(
  name: N,
  value: E,
): E & Named<N> & { readonly status: 200 }
export function endpoint(name: Name, value: Declared) {
  const [method, path] = name.split(' ')
  return { method, path, status: 200, ...value }
}

export type ParamsOf<E extends Endpoint> = E['params'] extends TSchema ? Static<E['params']> : Record<string, never>
export type QueryOf<E extends Endpoint> = E['query'] extends TSchema ? Static<E['query']> : Record<string, never>
export type BodyOf<E extends Endpoint> = E['body'] extends TSchema ? Static<E['body']> : undefined
export type ReplyOf<E extends Endpoint> = E['produces'] extends readonly unknown[]
  ? Static<E['reply']> | string
  : Static<E['reply']>

/** The name of an endpoint: method and path, as in `GET /servers/{serverId}`. */
export type NameOf<E extends Endpoint> = `${E['method']} ${E['path']}`
