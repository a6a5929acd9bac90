import type { BodyOf, QueryOf, ReplyOf, templates as contract } from '@stockade/contract'
import { authorOf } from '../../core/author.ts'
import { sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { conflict, forbidden, notFound } from '../../core/problem.ts'
import type { Events } from '../../events/events.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { TemplatesService } from '../templates/templates.service.ts'
import { deleteTemplateRow } from '../templates/templates.store.ts'
import { serversAwaiting, serversHolding } from './deployments.store.ts'

type Deployment = ReplyOf<typeof contract.deployTemplate>

/** Where templates are, and on their way to: what concerns templates, servers and commands at once. */
export interface DeploymentsService {
  list(actor: Principal, query: QueryOf<typeof contract.listTemplates>): Promise<ReplyOf<typeof contract.listTemplates>>
  deploy(actor: Principal, reference: string, input: BodyOf<typeof contract.deployTemplate>): Promise<Deployment>
  remove(actor: Principal, reference: string, serverId: string): Promise<ReplyOf<typeof contract.removeTemplate>>
  status(actor: Principal, reference: string): Promise<ReplyOf<typeof contract.templateStatus>>
  deleteTemplate(actor: Principal, reference: string): Promise<void>
}

/** Whether a jail runs, and no template of here made it. */
const isOwn = ({ template, enabled }: { readonly template: string | null; readonly enabled: boolean }) =>
  template === null && enabled

export const createDeployments = (needs: {
  events: Events
  registry: Pick<Registry, 'all' | 'byNo'>
  templates: Pick<TemplatesService, 'list' | 'get' | 'freeze'>
  commands: Pick<CommandsService, 'create' | 'createBatch'>
}): DeploymentsService => {
  const { events, registry, templates, commands } = needs
  const few = 5
  const listed = (hostnames: readonly string[]) =>
    hostnames.slice(0, few).join(', ') + (hostnames.length > few ? ` and ${hostnames.length - few} more` : '')

  return {
    async list(actor, query) {
      const serversByTemplate = new Map<string, number>()
      const serversByOwnJail = new Map<string, number>()
      const countIn = (counts: Map<string, number>, names: Iterable<string>) => {
        for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
      }
      for (const { row, jails } of registry.all()) {
        if (!sees(actor, row.no)) continue
        // A host may have two jails of one template.
        countIn(serversByTemplate, new Set(jails.flatMap(({ template }) => template ?? [])))
        countIn(
          serversByOwnJail,
          jails.filter(isOwn).map(({ name }) => name),
        )
      }
      const templates = (await needs.templates.list(query)).map(template => ({
        ...template,
        deployed_on: serversByTemplate.get(template.name) ?? 0,
        own_on: serversByOwnJail.get(template.name) ?? 0,
      }))
      return { templates, total: templates.length }
    },
    async deploy(actor, reference, { server_ids, settings = {} }) {
      const { id, display_name } = await templates.get(reference)
      // Errors name the settings by their path in this request.
      await templates.freeze(id, settings, 'settings')
      const params = { template_id: id, settings }
      const batch = await commands.createBatch(actor, { server_ids, type: 'deploy-template', params })
      const { length } = batch.commands
      return {
        message: `${display_name} is on its way to ${length} ${length === 1 ? 'server' : 'servers'}.`,
        batch_id: batch.batch_id,
        commands: batch.commands.map(({ id: command_id, server_id }) => ({ server_id, command_id })),
      }
    },
    async remove(actor, reference, serverId) {
      const { name, display_name } = await templates.get(reference)
      const command = await commands.create(actor, serverId, 'remove-template', { template_name: name })
      return { message: `The server is told to remove ${display_name}.`, command_id: command.id }
    },
    async status(actor, reference) {
      const { id, name } = await templates.get(reference)
      return {
        template_id: id,
        template_name: name,
        servers: registry
          .all()
          .filter(({ row }) => sees(actor, row.no))
          .map(({ row, jails }) => {
            const jail = jails.find(each => each.template === name)
            return {
              id: row.id,
              hostname: row.hostname,
              deployed: jail !== undefined,
              own: jails.some(each => each.name === name && isOwn(each)),
              enabled: jail?.enabled ?? false,
              current_bans: jail?.current_bans ?? 0,
            }
          }),
      }
    },
    async deleteTemplate(actor, reference) {
      const { id, name, type } = await templates.get(reference)
      if (type === 'builtin') throw forbidden('A built-in template can not be deleted.')
      const hostnamesOf = (nos: readonly number[]) => nos.flatMap(no => registry.byNo(no)?.row.hostname ?? [])
      await events.change(async change => {
        // Commands under way are read first, so that none can finish between the two reads.
        const awaiting = hostnamesOf(await serversAwaiting(change.sql, id))
        const reportingHosts = registry.all().filter(({ jails }) => jails.some(jail => jail.template === name))
        const there = hostnamesOf([
          ...new Set([...reportingHosts.map(({ row }) => row.no), ...(await serversHolding(change.sql, name))]),
        ])
        if (there.length > 0) throw conflict(`The template is deployed on ${listed(there)}. Remove it there first.`)
        if (awaiting.length > 0)
          throw conflict(`The template is on its way to ${listed(awaiting)}. Wait for that, or cancel it, first.`)
        if (!(await deleteTemplateRow(change.sql, id))) throw notFound(`There is no template ${reference}.`)
        await change.record({ name: 'template.delete', author: authorOf(actor), data: { id, name } })
      })
    },
  }
}
