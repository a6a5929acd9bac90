import { settings as contract } from '@stockade/contract'
import { authorOf } from '../../core/author.ts'
import type { Http } from '../../http/http.ts'
import type { LicenseService } from './license.service.ts'

export const mountLicense = (http: Http, license: LicenseService): void => {
  http.serve(contract.getLicense, () => license.read())
  http.serve(contract.activateLicense, ({ actor, body }) => license.activate(authorOf(actor), body.license_key))
  http.serve(contract.issueOwnLicense, ({ actor, body }) => license.issueOwn(authorOf(actor), body.servers))
}
