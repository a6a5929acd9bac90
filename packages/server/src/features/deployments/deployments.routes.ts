import { templates as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { DeploymentsService } from './deployments.service.ts'

export const mountDeployments = (http: Http, deployments: DeploymentsService): void => {
  http.serve(contract.listTemplates, ({ actor, query }) => deployments.list(actor, query))
  http.serve(contract.deployTemplate, ({ actor, params, body }) => deployments.deploy(actor, params.templateId, body))
  http.serve(contract.removeTemplate, ({ actor, params }) =>
    deployments.remove(actor, params.templateId, params.serverId),
  )
  http.serve(contract.templateStatus, ({ actor, params }) => deployments.status(actor, params.templateId))
  http.serve(contract.deleteTemplate, async ({ actor, params }) => {
    await deployments.deleteTemplate(actor, params.templateId)
    return { message: 'The template is deleted.' }
  })
}
