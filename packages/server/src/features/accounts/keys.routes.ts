import { keys as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { KeysService } from '../keys/keys.service.ts'
import type { ServersService } from '../servers/servers.service.ts'

export const mountKeys = (http: Http, keys: KeysService, servers: Pick<ServersService, 'named'>): void => {
  http.serve(contract.createKey, ({ actor, body: { server_id, ...input } }) =>
    keys.create(actor, {
      ...input,
      server: server_id === undefined ? null : servers.named(actor, 'server_id', server_id),
    }),
  )
  http.serve(contract.deleteKey, async ({ actor, params }) => {
    await keys.remove(actor, params.keyId)
    return { message: 'The API key is revoked.' }
  })
}
