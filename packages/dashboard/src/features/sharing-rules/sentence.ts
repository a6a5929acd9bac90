import { sayTarget } from '../fleet/target-choice.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { duration } from '../../lib/time.ts'
import type { Rule } from './queries.ts'
import { rulesTexts } from './sharing-rules.texts.ts'

/** A rule in words: the condition, and what follows. */
export const sayRule = (rule: Rule): { readonly condition: string; readonly result: string } => {
  const t = textsOf(rulesTexts)
  const jails = [...(rule.jails ?? []), ...(rule.countries ?? []), ...(rule.asns ?? []).map(asn => `AS${asn}`)]
  return {
    condition: t.sentence({
      servers: rule.min_servers,
      bans: rule.min_bans,
      within: duration(rule.within),
      jails: jails.join(', '),
      from: rule.from.all ? '' : sayTarget(rule.from),
    }),
    result: t.result({
      target: rule.target.all ? t.everywhere : sayTarget(rule.target),
      length: rule.duration < 0 ? t.forGood : t.forLength(duration(rule.duration)),
      grows: rule.factor > 1,
    }),
  }
}
