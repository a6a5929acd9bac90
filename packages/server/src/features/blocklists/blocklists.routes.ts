import { promisify } from 'node:util'
import { gunzip as gunzipWithCallback } from 'node:zlib'
import { blocklists as contract } from '@stockade/contract'
import { conditional } from '../../http/conditional.ts'
import type { Http } from '../../http/http.ts'
import type { Blocklists } from './blocklists.service.ts'

const gunzip = promisify(gunzipWithCallback)

export const mountBlocklists = (http: Http, lists: Blocklists): void => {
  http.serve(contract.listBlocklists, ({ actor, query }) => lists.list(actor, query))
  http.serve(contract.createBlocklist, ({ actor, body }) => lists.create(actor, body))
  http.serve(contract.previewBlocklist, ({ actor, body }) => lists.preview(actor, body))
  http.serve(contract.getBlocklist, ({ actor, params }) => lists.read(actor, params.id))
  http.serve(contract.changeBlocklist, ({ actor, params, body }) => lists.change(actor, params.id, body))
  http.serve(contract.removeBlocklist, async ({ actor, params }) => ({
    message: `${await lists.remove(actor, params.id)} is being taken out of the firewalls.`,
  }))
  http.serve(contract.refreshBlocklist, ({ actor, params, body }) =>
    lists.refresh(actor, params.id, body.accept_change === true),
  )
  http.serve(contract.listBlocklistServers, ({ actor, params, query }) => lists.servers(actor, params.id, query))
  http.serve(contract.listBlocklistEntries, ({ actor, params, query }) => lists.entries(actor, params.id, query))
  http.serve(contract.agentBlocklist, async ({ actor, params, request, reply }) => {
    const { version, packed } = await lists.contentFor(actor, params.id)
    const gzip = Buffer.from(packed)
    const takesGzip = request.headers['accept-encoding']?.includes('gzip') === true
    // Agents take gzip. Only others pay for the plain text.
    const plain = takesGzip ? '' : await gunzip(gzip)
    return conditional(request, reply.type('text/plain; charset=utf-8'), String(version), plain, gzip)
  })
}
