import { passkeys as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { PasskeysService } from '../passkeys/passkeys.service.ts'
import { setSessionCookie, visitor } from './sessions.routes.ts'
import type { SessionsService } from './sessions.model.ts'

export const mountPasskeys = (
  http: Http,
  passkeys: PasskeysService,
  sessions: Pick<SessionsService, 'beginPasskey' | 'finishPasskey' | 'beginProof'>,
  baseUrl: () => string,
): void => {
  http.serve(contract.listPasskeys, async ({ actor }) => ({ passkeys: await passkeys.list(actor) }))
  http.serve(contract.preparePasskey, ({ actor }) => passkeys.prepare(actor))
  http.serve(contract.addPasskey, ({ actor, body }) => passkeys.add(actor, body.name, body.response))
  http.serve(contract.renamePasskey, ({ actor, params, body }) => passkeys.rename(actor, params.passkeyId, body.name))
  http.serve(contract.deletePasskey, async ({ actor, params }) => {
    await passkeys.remove(actor, params.passkeyId)
    return { message: 'The passkey is removed.' }
  })
  http.serve(contract.beginPasskey, ({ body }) => sessions.beginPasskey(body.mfa_token))
  http.serve(contract.signInWithPasskey, async ({ body, request, reply }) => {
    const { cookie, reply: signedIn } = await sessions.finishPasskey(body, visitor(request))
    setSessionCookie(reply, cookie, baseUrl())
    return signedIn
  })
  http.serve(contract.beginPasskeyProof, ({ actor }) => sessions.beginProof(actor))
}
