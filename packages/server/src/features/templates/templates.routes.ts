import { templates as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { TemplatesService } from './templates.service.ts'

export const mountTemplates = (http: Http, templates: TemplatesService): void => {
  http.serve(contract.listTemplateCategories, () => templates.categories())
  http.serve(contract.getTemplate, ({ params }) => templates.get(params.templateId))
  http.serve(contract.createTemplate, ({ actor, body }) => templates.create(actor, body))
  http.serve(contract.updateTemplate, ({ actor, params, body }) => templates.update(actor, params.templateId, body))
  http.serve(contract.validateTemplate, ({ body }) => templates.check(body))
}
