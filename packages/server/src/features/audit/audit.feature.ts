import { join } from 'node:path'
import { minute, second } from '../../core/clock.ts'
import type { Core, Feature } from '../feature.ts'
import { mountAudit } from './audit.routes.ts'
import { createAudit } from './audit.service.ts'
import { auditKeyIn, auditMemoryIn, createAuditChain } from './chain.ts'
import type { AuditChain } from './chain.ts'
import { createRefused } from './refused.ts'

export const auditFeature = (
  needs: Core,
): Feature<AuditChain> & { readonly noteRefusal: ReturnType<typeof createRefused>['note'] } => {
  const { dataDir } = needs.config
  const chain = createAuditChain({
    ...needs,
    key: auditKeyIn(join(dataDir, 'audit.key')),
    memory: auditMemoryIn(join(dataDir, 'audit.last')),
  })
  const refused = createRefused({
    ...needs,
    fail(error) {
      if (!needs.isStorageError(error)) needs.log.error({ err: error }, 'recording a refused request failed')
    },
  })
  return {
    service: chain,
    noteRefusal: refused.note,
    mount: http => mountAudit(http, createAudit(needs)),
    jobs: [
      { name: 'audit chain', every: second, run: chain.link },
      { name: 'audit checkpoint', every: minute, run: chain.checkpoint },
    ],
  }
}
