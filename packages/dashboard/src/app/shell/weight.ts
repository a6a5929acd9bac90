/* What the notices in the top bar say, the heaviest first. */

export type Notice =
  | { readonly kind: 'elsewhere'; readonly address: string }
  | { readonly kind: 'licence'; readonly used: number; readonly limit: number }
  | { readonly kind: 'siem'; readonly waiting: number }
  | { readonly kind: 'version' }

export interface Situation {
  /** Address that the dashboard was opened at, and the one that install commands and mails name. */
  readonly opened: string
  readonly base: string | undefined
  readonly licence: { readonly servers_used: number; readonly server_limit: number } | undefined
  readonly siem: { readonly enabled: boolean; readonly connected: boolean; readonly queue_size: number } | undefined
  /** Version of the server, and the one that this page was built with. */
  readonly version: string | undefined
  readonly built: string
}

const isLoopback = (host: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host)
/** Whether both are the same place: on one's own machine its names are as good as each other. */
const isSame = (one: string, other: string): boolean => {
  const [a, b] = [new URL(one), new URL(other)]
  return a.origin === b.origin || (isLoopback(a.hostname) && isLoopback(b.hostname))
}

/** All that there is to say, heaviest first; servers that are offline are counted in the navigation. */
export const noticesOf = (is: Situation): readonly Notice[] => [
  ...(is.base !== undefined && !isSame(is.opened, is.base) ? [{ kind: 'elsewhere', address: is.base } as const] : []),
  ...(is.licence && is.licence.servers_used > is.licence.server_limit
    ? [{ kind: 'licence', used: is.licence.servers_used, limit: is.licence.server_limit } as const]
    : []),
  ...(is.siem?.enabled && !is.siem.connected ? [{ kind: 'siem', waiting: is.siem.queue_size } as const] : []),
  ...(is.version !== undefined && is.version !== is.built ? [{ kind: 'version' } as const] : []),
]
