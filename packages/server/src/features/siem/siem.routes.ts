import { additionalSiemTypes, allSiemTypes, siem as contract, siemTypes } from '@stockade/contract'
import type { SiemType } from '@stockade/contract'
import { keysOf } from '@stockade/contract/records.ts'
import { authorOf } from '../../core/author.ts'
import { timeOf } from '../../core/page.ts'
import { invalid } from '../../core/problem.ts'
import type { Http } from '../../http/http.ts'
import type { SiemService } from './siem.service.ts'

const all = keysOf(siemTypes)
const wordsByType: Readonly<Record<SiemType, readonly [name: string, description: string]>> = {
  ban: ['IP banned', 'A server has banned an address.'],
  unban: ['IP unbanned', 'A ban was lifted, or its time was up.'],
  server_offline: ['Server offline', 'A server sends no heartbeats any more.'],
  login_success: ['Login', 'Somebody signed in to the dashboard.'],
  login_failed: ['Login failed', 'A sign-in to the dashboard was refused.'],
  whitelist_add: ['Whitelist entry added', 'An address or a range was added to the whitelist.'],
  whitelist_remove: ['Whitelist entry removed', 'An address or a range was removed from the whitelist.'],
  settings_change: ['Settings changed', 'A system setting was changed, or settings were imported.'],
  protection: [
    'Protection changed',
    'The level of protection of a server changed; the data has both levels and the reasons.',
  ],
  audit: ['Audit entry', 'Anything else that stands in the audit log; its action and details are the data.'],
}

const additional = keysOf(additionalSiemTypes)
const typeView = (id: SiemType) => ({
  id,
  name: wordsByType[id][0],
  description: wordsByType[id][1],
  default_severity: allSiemTypes[id],
})

export const mountSiem = (http: Http, siem: SiemService): void => {
  http.serve(contract.getSiemSettings, () => siem.settings())
  http.serve(contract.updateSiemSettings, async ({ actor, body }) => {
    const changed = await siem.update(authorOf(actor), body)
    return { message: changed ? 'The SIEM settings are changed.' : 'Nothing was changed.' }
  })
  http.serve(contract.testSiem, ({ actor }) => siem.test(authorOf(actor)))
  http.serve(contract.siemStatus, () => siem.status())
  http.serve(contract.siemQueue, ({ query }) => siem.queue(query.limit ?? 100))
  http.serve(contract.flushSiem, ({ actor }) => siem.flush(authorOf(actor)))
  http.serve(contract.discardSiemQueue, ({ actor }) => siem.discard(authorOf(actor)))
  http.serve(contract.siemDeliveries, () => siem.deliveries())
  http.serve(contract.siemStats, ({ query }) => siem.stats(query.period ?? 'day'))
  http.serve(contract.listEventTypes, () => ({
    event_types: all.map(typeView),
    additional_event_types: additional.map(typeView),
  }))
  http.serve(contract.startReplay, ({ actor, body }) => {
    const types = body.event_types ?? all
    if (types.length === 0)
      throw invalid('event_types', 'event_types must name at least one type; leave it out for all.')
    const [from, to] = [timeOf('from', body.from), timeOf('to', body.to)]
    return siem.replay(authorOf(actor), { from, to, types: [...new Set(types)] })
  })
  http.serve(contract.getReplay, ({ params }) => siem.readReplay(params.jobId.toLowerCase()))
}
