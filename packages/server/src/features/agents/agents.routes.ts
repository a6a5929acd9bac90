import type { FastifyRequest } from 'fastify'
import { agents as contract, commands } from '@stockade/contract'
import type { QueryOf } from '@stockade/contract'
import { addressOf } from '../../http/request.ts'
import type { Http } from '../../http/http.ts'
import type { AgentsService } from './agents.service.ts'

/** Runs `work` with a signal that is aborted when the caller hangs up. */
const whileThere = async <T>(request: FastifyRequest, work: (gone: AbortSignal) => Promise<T>): Promise<T> => {
  const gone = new AbortController()
  const left = () => gone.abort()
  request.raw.socket.once('close', left)
  try {
    return await work(gone.signal)
  } finally {
    request.raw.socket.off('close', left)
  }
}
const waitOf = (query: QueryOf<typeof contract.pendingCommands>, gone: AbortSignal) => {
  const { wait: seconds = 0, state, with: beside } = query
  return { seconds, state, beside, gone }
}

export const mountAgents = (http: Http, agents: AgentsService): void => {
  http.serve(contract.enroll, ({ body, request }) => agents.enroll(body, addressOf(request)))
  http.serve(contract.heartbeat, ({ actor, body }) => agents.heartbeat(actor, body))
  http.serve(contract.putJails, async ({ actor, body }) => {
    await agents.putJails(actor, body)
    return { message: 'Noted.' }
  })
  http.serve(contract.farewell, async ({ actor }) => {
    await agents.farewell(actor)
    return { message: 'Noted.' }
  })
  http.serve(contract.pendingCommands, ({ actor, params, query, request }) =>
    whileThere(request, gone => agents.pending(actor, params.serverId, waitOf(query, gone))),
  )
  http.serve(contract.takeTurn, ({ actor, body, request }) => {
    const { wait, state, with: beside } = body
    const intake = agents.takeIn(actor, body)
    // It is stored within milliseconds, and the answer may be held for a minute: a large body must not stay in memory for so long.
    request.body = undefined
    return whileThere(request, async gone => {
      const results = await intake
      return { ...(await agents.news(actor, waitOf({ wait, state, with: beside }, gone))), results }
    })
  })
  http.serve(commands.reportResult, async ({ actor, params, body }) => {
    await agents.result(actor, params.commandId, body)
    return { message: 'Noted.' }
  })
  http.serve(contract.reportResults, async ({ actor, body }) => ({
    results: await agents.results(actor, body.results),
  }))
}
