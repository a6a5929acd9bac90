import { bounds, commands } from '@stockade/contract'
import type { BodyOf, commands as contract } from '@stockade/contract'
import { invalid } from '../../core/problem.ts'
import type { Params } from './params.ts'

type Batch = BodyOf<typeof contract.createBatch>

/** One set of parameters of a batch, and the servers that it is for. */
export interface Entry {
  /** Where the parameters stand in the request, and where the servers. */
  readonly at: string
  readonly named: string
  readonly given: Params | undefined
  /** Each once. */
  readonly serverIds: readonly string[]
}

/**
 * The three forms of a batch as one.
 * @throws Problem 400 where two forms are mixed, or it would be too many commands.
 */
export const entriesOf = ({ type, server_ids, params, params_list, targets }: Batch): Entry[] => {
  const list = params_list ? 'params_list' : 'targets'
  // One snapshot and one audit entry describe a deployment on all of its servers.
  if ((params_list || targets) && commands.commandTypes[type].takesTemplate)
    throw invalid(list, `${type} takes server_ids and params: one template at a time.`)
  if (targets) {
    if (server_ids || params || params_list)
      throw invalid('targets', 'targets names servers and parameters by itself: send it alone, with the type.')
    return targets.map(({ server_id, params: given }, index) => ({
      at: `targets.${index}.params`,
      named: `targets.${index}.server_id`,
      given,
      serverIds: [server_id.toLowerCase()],
    }))
  }
  if (!server_ids) throw invalid('server_ids', 'server_ids is required.')
  const serverIds = [...new Set(server_ids.map(id => id.toLowerCase()))]
  const fieldName = 'server_ids'
  if (!params_list) return [{ at: 'params', named: fieldName, given: params, serverIds }]
  if (params) throw invalid('params_list', 'Send either params or params_list.')
  const commandCount = params_list.length * serverIds.length
  if (commandCount > bounds.commands)
    throw invalid(
      'params_list',
      `${params_list.length} entries for ${serverIds.length} servers are ${commandCount} commands; a batch has at most ${bounds.commands}.`,
    )
  return params_list.map((given, index) => ({ at: `params_list.${index}`, named: fieldName, given, serverIds }))
}
