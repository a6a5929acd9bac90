import { whitelist as contract, whitelistNames as nameContract } from '@stockade/contract'
import { conditional } from '../../http/conditional.ts'
import type { Http } from '../../http/http.ts'
import type { WhitelistNames } from './names.service.ts'
import type { WhitelistService } from './whitelist.model.ts'

export const mountWhitelist = (http: Http, whitelist: WhitelistService, names: WhitelistNames): void => {
  http.serve(nameContract.listWhitelistNames, () => names.list())
  http.serve(nameContract.addWhitelistName, ({ actor, body }) => names.add(actor, body))
  http.serve(nameContract.removeWhitelistName, async ({ actor, params }) => ({
    message: `${await names.remove(actor, params.id)} is off the whitelist.`,
  }))
  http.serve(contract.listWhitelist, ({ actor, query }) => whitelist.list(actor, query))
  http.serve(contract.getWhitelistEntry, ({ params }) => whitelist.read(params.id))
  http.serve(contract.addToWhitelist, ({ actor, body }) => whitelist.add(actor, body))
  http.serve(contract.addManyToWhitelist, ({ actor, body }) =>
    whitelist.addMany(actor, body.entries, body.confirm_share),
  )
  http.serve(contract.describeWhitelistEntry, ({ actor, params, body }) => whitelist.change(actor, params.id, body))
  http.serve(contract.removeFromWhitelist, async ({ actor, params }) => ({
    message: `${await whitelist.remove(actor, params.id)} is off the whitelist.`,
  }))
  http.serve(contract.removeManyFromWhitelist, async ({ actor, body }) => ({
    removed: await whitelist.removeMany(actor, body.ids),
  }))
  http.serve(contract.whitelistText, async ({ request, reply }) => {
    const { version, plain, gzip } = await whitelist.render()
    return conditional(request, reply.type('text/plain; charset=utf-8'), version, plain, gzip)
  })
  http.serve(contract.checkWhitelist, ({ params }) => whitelist.check(params.ip))
  http.serve(contract.importWhitelist, ({ actor, body }) => whitelist.import(actor, body))
  http.serve(contract.exportWhitelist, async ({ query, reply }) => {
    const { format = 'plain' } = query
    void reply.header('content-disposition', `attachment; filename="whitelist.${endings[format]}"`)
    if (format === 'json') return whitelist.exportJson()
    void reply.type(`text/${format}; charset=utf-8`)
    return whitelist.exportText(format)
  })
}
const endings = { plain: 'txt', csv: 'csv', json: 'json' } as const
