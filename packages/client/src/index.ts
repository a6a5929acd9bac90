import type {
  BodyOf,
  Contract,
  EndpointName,
  ParamsOf,
  ProblemBody,
  ProblemReason,
  QueryOf,
  ReplyOf,
} from '@stockade/contract'

type Given<K extends string, T> = T extends undefined | Record<string, never>
  ? { [P in K]?: undefined }
  : Record<string, never> extends T
    ? { [P in K]?: T }
    : { [P in K]: T }

/** What a call to an endpoint takes: path parameters, query and body, as its contract says. */
export type CallInput<N extends EndpointName> = Given<'params', ParamsOf<Contract[N]>> &
  Given<'query', QueryOf<Contract[N]>> &
  Given<'body', BodyOf<Contract[N]>> & { headers?: Record<string, string>; signal?: AbortSignal }

export type Reply<N extends EndpointName> = ReplyOf<Contract[N]>

/** A refusal: the status, the body with `error` and `message`, and the seconds of `Retry-After` where given. */
export class ApiError extends Error {
  readonly status: number
  readonly body: ProblemBody
  readonly retryAfter: number | null
  /** The code to decide by, never the sentence. */
  get reason(): ProblemReason {
    return this.body.reason
  }
  constructor(status: number, body: ProblemBody, retryAfter: number | null) {
    super(body.message)
    this.name = 'ApiError'
    this.status = status
    this.body = body
    this.retryAfter = retryAfter
  }
}

export interface ClientOptions {
  /** Where Stockade answers, such as `https://stockade.example`; a path prefix is kept. */
  readonly baseUrl: string
  /** An API key or an access token; without it the browser's session cookie speaks. */
  readonly token?: string
  readonly fetch?: typeof fetch
}

export interface Client {
  /**
   * Calls an endpoint by its name, `call('GET /servers/{serverId}', { params: { serverId } })`.
   * Resolves to the reply's body; throws ApiError for a refusal and whatever `fetch` throws when nothing answered.
   */
  call<N extends EndpointName>(
    name: N,
    ...input: object extends CallInput<N> ? [CallInput<N>?] : [CallInput<N>]
  ): Promise<Reply<N>>
  /** The same for an endpoint whose name is known at run time only. */
  callByName(name: string, input?: UncheckedInput): Promise<unknown>
}
interface UncheckedInput {
  readonly params?: object
  readonly query?: object
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

/** Fills `{name}` in the path and appends the query; undefined values are left out. */
export const urlOf = (
  baseUrl: string,
  path: string,
  params: Record<string, unknown> = {},
  query: Record<string, unknown> = {},
) => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, String(value)] satisfies [string, string]],
    ),
  ).toString()
  return `${baseUrl.replace(/\/+$/, '')}/api/v1${filled}${search ? `?${search}` : ''}`
}

/** Whether a body is that of a refusal. */
export const isProblem = (value: unknown): value is ProblemBody =>
  typeof value === 'object' &&
  value !== null &&
  'error' in value &&
  typeof value.error === 'string' &&
  'message' in value &&
  typeof value.message === 'string'

const problemOf = (status: number, text: string): ProblemBody => {
  try {
    const body: unknown = JSON.parse(text)
    if (isProblem(body)) return body
  } catch {
    // Not ours: a proxy in between may answer with a page of its own.
  }
  return {
    error: `Status ${status}`,
    message: `The server answered ${status} without an explanation.`,
    reason: 'bad-gateway',
  }
}

/** No endpoint answers with a page: a proxy or a hotspot in between did, and calls it a success. */
const strangePage: ProblemBody = {
  error: 'Bad Gateway',
  reason: 'bad-gateway',
  message: 'A web page came in place of the answer, from a proxy or a network that asks you to sign in.',
}

export const createClient = (options: ClientOptions): Client => {
  const send = options.fetch ?? fetch
  const callByName: Client['callByName'] = async (name, given = {}) => {
    const [method = '', path = ''] = name.split(' ')
    const reply = await send(urlOf(options.baseUrl, path, { ...given.params }, { ...given.query }), {
      method,
      headers: {
        ...(given.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
        ...given.headers,
      },
      credentials: 'same-origin',
      ...(given.body === undefined ? {} : { body: JSON.stringify(given.body) }),
      ...(given.signal ? { signal: given.signal } : {}),
    })
    const text = await reply.text()
    if (!reply.ok) {
      const wait = Number(reply.headers.get('retry-after'))
      throw new ApiError(reply.status, problemOf(reply.status, text), Number.isFinite(wait) && wait > 0 ? wait : null)
    }
    const type = reply.headers.get('content-type') ?? ''
    if (type.includes('html')) throw new ApiError(502, strangePage, null)
    return type.includes('json') ? JSON.parse(text) : text
  }
  // The server serialises each reply by the contract, so its type holds.
  return { callByName, call: async (name, ...[input]) => (await callByName(name, input)) as never }
}
