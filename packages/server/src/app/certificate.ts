import type { Server as HttpServer } from 'node:http'
import type { Server } from 'node:https'
import type { Config } from '../config.ts'
import { second } from '../core/clock.ts'
import { createAcme } from '../http/acme.ts'
import type { Acme } from '../http/acme.ts'
import { openRedirect } from '../http/redirect.ts'
import { createTlsReload, openFetched, openTls } from '../http/tls.ts'
import type { TlsPair } from '../http/tls.ts'
import type { Job } from '../jobs/jobs.ts'
import { createOutgoing } from '../outgoing/outgoing.ts'
import type { Platform } from './platform.ts'

/** The certificate of a server that speaks https itself: what it starts with, what keeps it fresh, and the port for plain http beside it. */
export interface Certificate {
  /** Null: plain http. */
  readonly pair: TlsPair | null
  /** Whether browsers may be told to accept nothing but https with a certificate that they trust. */
  readonly isTrusted: () => boolean
  jobsFor(server: Server): readonly Job[]
  /** Called when the server listens at the address. */
  start(address: string): Promise<void>
  close(): void
}
type Core = Platform['core']

/** The port that leads to https, if there is one. */
const openHttpPort = (
  { host, httpPort }: Config,
  address: string,
  more: { readonly baseUrl: () => string; readonly challenge: Acme['answer'] },
): Promise<HttpServer> | null =>
  httpPort === null
    ? null
    : openRedirect({ host, port: httpPort }, { ...more, port: () => Number(new URL(address).port || 443) })

export const openCertificate = ({ config, clock, log }: Core, baseUrl: () => string): Certificate => {
  const { tls } = config
  const pair = tls && (tls.acme ? openFetched : openTls)(tls, baseUrl, clock)
  let isTrusted = tls?.isOwn !== true && pair?.isProvisional !== true
  let reload = () => Promise.resolve()
  const acme = tls?.acme
    ? createAcme({
        config: tls.acme,
        files: tls,
        outgoing: createOutgoing({ ports: [config.port], databases: [] }),
        clock,
        log,
        taken: () => reload(),
      })
    : null
  let redirect: HttpServer | null = null
  return {
    pair,
    isTrusted: () => isTrusted,
    jobsFor(server) {
      if (!tls || !pair) return []
      const onTrust = () => (isTrusted = !tls.isOwn)
      reload = createTlsReload({ ...tls, baseUrl, started: pair, server, clock, log, taken: onTrust })
      const each = { every: 10 * second, everywhere: true }
      const looks: Job = { name: 'certificate', ...each, run: reload }
      // It may take minutes, and must not keep the other from looking.
      return acme ? [looks, { name: 'acme', ...each, run: acme.run }] : [looks]
    },
    async start(address) {
      redirect = await openHttpPort(config, address, { baseUrl, challenge: token => acme?.answer(token) ?? null })
      void acme?.run()
    },
    close() {
      acme?.close()
      redirect?.close()
      redirect?.closeAllConnections()
    },
  }
}
