import { commands as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { CommandsService } from './commands.service.ts'

export const mountCommands = (http: Http, commands: CommandsService): void => {
  http.serve(contract.listCommands, ({ actor, query }) => commands.list(actor, query))
  http.serve(contract.commandStats, ({ actor, query }) => commands.stats(actor, query))
  http.serve(contract.getCommand, ({ actor, params }) => commands.read(actor, params.commandId))
  http.serve(contract.createCommand, ({ actor, params, body }) =>
    commands.create(actor, params.serverId, body.type, body.params),
  )
  http.serve(contract.createBatch, ({ actor, body }) => commands.createBatch(actor, body))
  http.serve(contract.prepareSealed, ({ actor, body }) => commands.prepareSealed(actor, body))
  http.serve(contract.createSealed, ({ actor, body }) => commands.createSealed(actor, body))
  http.serve(contract.cancelCommand, async ({ actor, params }) => {
    await commands.cancel(actor, params.commandId)
    return { message: 'The command is cancelled.' }
  })
  http.serve(contract.cancelMany, ({ actor, body }) => commands.cancelMany(actor, body.ids))
  http.serve(contract.retryCommand, ({ actor, params }) => commands.retry(actor, params.commandId))
}
