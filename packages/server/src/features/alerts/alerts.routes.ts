import { alerts as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { AlertsService } from './alerts.service.ts'
import type { RulesService } from './rules.service.ts'

export const mountAlerts = (http: Http, alerts: AlertsService, rules: RulesService): void => {
  http.serve(contract.listAlerts, ({ actor, query }) => alerts.list(actor, query))
  http.serve(contract.listAlertRules, ({ actor }) => rules.list(actor))
  http.serve(contract.createAlertRule, ({ actor, body }) => rules.create(actor, body))
  http.serve(contract.previewAlertRule, ({ actor, body }) => rules.preview(actor, body))
  http.serve(contract.updateAlertRule, ({ actor, params, body }) => rules.change(actor, params.id, body))
  http.serve(contract.deleteAlertRule, ({ actor, params }) => rules.remove(actor, params.id))
  http.serve(contract.getAlertRoutes, ({ actor }) => rules.routes(actor))
  http.serve(contract.putAlertRoutes, ({ actor, body }) => rules.setRoutes(actor, body))
  http.serve(contract.listAlertSilences, ({ actor }) => alerts.silences(actor))
  http.serve(contract.createAlertSilence, ({ actor, body }) => alerts.silence(actor, body))
  http.serve(contract.deleteAlertSilence, ({ actor, params }) => alerts.endSilence(actor, params.id))
  http.serve(contract.ackAlert, ({ actor, params, body }) => alerts.ack(actor, params.id, body.note ?? ''))
}
