import { agents, portknock as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { Portknock } from './portknock.service.ts'

export const mountPortknock = (http: Http, { sequences, openings, history, reports }: Portknock): void => {
  http.serve(contract.listSequences, ({ actor }) => sequences.list(actor))
  http.serve(contract.getSequence, ({ actor, params }) => sequences.read(actor, params.sequenceId))
  http.serve(contract.createSequence, ({ actor, body }) => sequences.create(actor, body))
  http.serve(contract.updateSequence, ({ actor, params, body }) => sequences.update(actor, params.sequenceId, body))
  http.serve(contract.deleteSequence, async ({ actor, params }) => ({
    message: `The sequence "${await sequences.remove(actor, params.sequenceId)}" is deleted.`,
  }))
  http.serve(contract.knock, ({ actor, body }) => openings.knock(actor, body))
  http.serve(contract.listOpenings, ({ actor, query }) => openings.list(actor, query))
  http.serve(contract.closeOpening, async ({ actor, params, query }) => ({
    message: await openings.close(actor, params.openingId, query.cut ?? false),
  }))
  http.serve(contract.listKnocks, ({ actor, query }) => history.list(actor, query))
  http.serve(contract.listBlocked, ({ actor }) => openings.listBlocked(actor))
  http.serve(contract.unblock, async ({ actor, params, query }) => ({
    message: await openings.unblock(actor, params.ip, query.server_id),
  }))
  http.serve(contract.knockStats, ({ actor, query }) => history.stats(actor, query))
  http.serve(agents.reportKnocks, async ({ actor, body }) => ({ results: await reports.report(actor, body.events) }))
}
