import type { CommandsService } from '../commands/commands.service.ts'
import type { Core, Feature } from '../feature.ts'
import type { Registry } from '../servers/registry.ts'
import type { TemplatesService } from '../templates/templates.service.ts'
import { mountDeployments } from './deployments.routes.ts'
import { createDeployments } from './deployments.service.ts'

export const deploymentsFeature = (
  needs: Core & { registry: Registry; templates: TemplatesService; commands: CommandsService },
): Feature<null> => ({
  service: null,
  mount: http => mountDeployments(http, createDeployments(needs)),
})
