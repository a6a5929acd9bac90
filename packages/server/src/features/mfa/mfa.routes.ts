import { auth } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { MfaService } from './mfa.service.ts'

export const mountMfa = (http: Http, mfa: MfaService): void => {
  http.serve(auth.enableMfa, ({ actor }) => mfa.enable(actor))
  http.serve(auth.confirmMfa, async ({ actor, body }) => {
    await mfa.confirm(actor, body.code)
    return { message: '2FA is on. A code is asked for at the next sign-in.', mfa_enabled: true }
  })
  http.serve(auth.disableMfa, async ({ actor, body }) => {
    await mfa.disable(actor, body.password)
    return { message: '2FA is off.', mfa_enabled: false }
  })
  http.serve(auth.renewBackupCodes, async ({ actor, body }) => ({
    backup_codes: await mfa.renewBackupCodes(actor, body.password),
  }))
}
