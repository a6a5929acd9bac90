import { rules as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { RulesService } from './rules.service.ts'

export const mountRules = (http: Http, rules: RulesService): void => {
  http.serve(contract.listRules, ({ actor }) => rules.list(actor))
  http.serve(contract.createRule, ({ actor, body }) => rules.create(actor, body))
  http.serve(contract.simulateConditions, ({ actor, body }) => rules.simulateInput(actor, body))
  http.serve(contract.getRule, ({ actor, params }) => rules.read(actor, params.id))
  http.serve(contract.changeRule, ({ actor, params, body }) => rules.change(actor, params.id, body))
  http.serve(contract.removeRule, async ({ actor, params, query }) => ({
    message: `The sharing rule ${await rules.remove(actor, params.id, query.lift === true)} was deleted.`,
  }))
  http.serve(contract.simulateRule, ({ actor, params, body }) => rules.simulateRule(actor, params.id, body.days))
  http.serve(contract.armRule, ({ actor, params }) => rules.arm(actor, params.id))
  http.serve(contract.disarmRule, ({ actor, params, body }) => rules.disarm(actor, params.id, body.lift === true))
  http.serve(contract.listRuleMatches, ({ actor, params, query }) => rules.matches(actor, params.id, query))
}
