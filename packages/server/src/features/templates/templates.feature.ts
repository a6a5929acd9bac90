import type { Core, Feature } from '../feature.ts'
import { mountTemplates } from './templates.routes.ts'
import { createTemplates } from './templates.service.ts'
import type { TemplatesService } from './templates.service.ts'

export const templatesFeature = (needs: Core): Feature<TemplatesService> => {
  const service = createTemplates(needs)
  return { service, mount: http => mountTemplates(http, service) }
}
