import { service } from '@stockade/contract'
import { refusal } from '../core/access.ts'
import { sees } from '../core/actor.ts'
import { forbidden, unavailable } from '../core/problem.ts'
import type { Database } from '../db/database.ts'
import type { Http } from '../http/http.ts'
import { asksForOpenMetrics, contentTypeOf } from '../http/exposition.ts'
import type { Metrics } from '../http/metrics.ts'

/** Health, readiness and metrics, for those who watch the process. */
export const mountServiceRoutes = (
  http: Http,
  needs: {
    readonly version: string
    readonly db: Pick<Database, 'ping'>
    readonly metrics: Metrics
    readonly isDraining: () => boolean
  },
): void => {
  const { db, metrics, version } = needs
  http.serve(service.health, () => ({ status: 'ok' as const, version }))
  http.serve(service.ready, async () => {
    if (needs.isDraining()) throw unavailable('The server is shutting down.')
    await db.ping().catch(() => {
      throw unavailable('Storage does not answer.')
    })
    return { status: 'ok' as const }
  })
  http.fastify.get('/metrics', async (request, reply) => {
    const { headers } = request
    const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined
    const actor = await http.identify(request)
    const isLocal = !isForwarded && ['127.0.0.1', '::1'].includes(actor.ip)
    if (!isLocal && refusal(actor, { access: 'read', tag: '', scope: 'metrics', fleet: true }))
      throw forbidden('Metrics are for the host itself, or for a key with read permission.')
    const scrape = {
      isOpenMetrics: asksForOpenMetrics(headers.accept),
      // A caller on the host itself sees all, also without a key.
      sees: (serverNo: number) => isLocal || (actor.kind !== 'anonymous' && sees(actor, serverNo)),
    }
    return reply.type(contentTypeOf(scrape)).send(await metrics.text(scrape))
  })
}
