import { keys as keysContract, users as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { KeysService } from '../keys/keys.service.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { AccountsService } from './accounts.service.ts'

export const mountAccounts = (
  http: Http,
  accounts: AccountsService,
  keys: Pick<KeysService, 'listOf' | 'createFor'>,
  servers: Pick<ServersService, 'named'>,
): void => {
  http.serve(contract.currentUser, ({ actor }) => accounts.read(actor.userId))
  http.serve(contract.listUsers, ({ query }) => accounts.list(query))
  http.serve(contract.getUser, ({ params }) => accounts.read(params.userId))
  http.serve(contract.createUser, ({ actor, body }) => accounts.create(actor, body))
  http.serve(contract.inviteUser, async ({ actor, params, body }) => ({
    ...(await accounts.invite(actor, params.userId, body)),
    message: 'The invitation is made. What was given out before is void.',
  }))
  http.serve(contract.updateUser, ({ actor, params, body }) => accounts.update(actor, params.userId, body))
  http.serve(contract.deleteUser, async ({ actor, params }) => {
    await accounts.remove(actor, params.userId)
    return { message: 'The user is deleted. Sessions and keys of the user have ended.' }
  })
  http.serve(contract.resetPassword, async ({ actor, params, body }) => ({
    ...(await accounts.resetPassword(actor, params.userId, body)),
    message: 'The password is replaced. The sessions of the user have ended.',
  }))
  http.serve(contract.resetMfa, async ({ actor, params, body }) => ({
    ...(await accounts.resetMfa(actor, params.userId, body)),
    message: '2FA is off. The sessions of the user have ended.',
    mfa_enabled: false,
  }))
  http.serve(contract.putServerAccess, async ({ actor, params, body }) => ({
    ...(await accounts.setServerAccess(actor, params.userId, body)),
    message: 'The access is changed.',
  }))
  http.serve(contract.listSessions, async ({ actor, params }) => ({
    sessions: await accounts.sessions(actor, params.userId),
  }))
  http.serve(contract.endSession, async ({ actor, params }) => {
    await accounts.endSession(actor, params.userId, params.sessionId)
    return { message: 'The session has ended.' }
  })
  http.serve(contract.endSessions, async ({ actor, params, query }) => {
    const terminated_count = await accounts.endSessions(actor, params.userId, query.except_current ?? true)
    return { message: `${terminated_count} sessions have ended.`, terminated_count }
  })
  http.serve(keysContract.listUserKeys, async ({ params }) => ({
    keys: await keys.listOf((await accounts.get(params.userId)).id),
  }))
  http.serve(keysContract.createUserKey, async ({ actor, params, body: { server_id, ...input } }) => {
    const user = await accounts.get(params.userId)
    const server = server_id === undefined ? null : servers.named(actor, 'server_id', server_id)
    return keys.createFor(actor, user, { ...input, server })
  })
}
