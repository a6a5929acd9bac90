import { Readable } from 'node:stream'
import { settings as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { AuditService } from './audit.service.ts'

export const mountAudit = (http: Http, audit: AuditService): void => {
  http.serve(contract.listAudit, ({ query }) => audit.list(query))
  http.serve(contract.exportAudit, async ({ query, reply }) => {
    const { format = 'json' } = query
    const text = await audit.export(query)
    return reply
      .header('content-disposition', `attachment; filename="audit.${format}"`)
      .type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8')
      .send(Readable.from(text))
  })
}
