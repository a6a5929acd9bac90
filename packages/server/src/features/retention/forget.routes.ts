import { servers as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { Forget } from './forget.ts'

export const mountForget = (http: Http, forget: Forget): void => {
  http.serve(contract.forgetReports, ({ actor, params, body }) => forget(actor, params.serverId, body.since))
}
