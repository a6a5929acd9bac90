import type { Policy, Texts } from '../texts.ts'
import { blocklists } from './blocklists.ts'
import { alertChannels, alerts } from './alerts.ts'
import { enrolmentTokens } from './enrolment-tokens.ts'
import { feeds } from './feeds.ts'
import { fleetBans } from './fleet-bans.ts'
import { preview } from './preview.ts'
import { reports } from './reports.ts'
import { sharingRules } from './sharing-rules.ts'

export const texts: Pick<Texts, Policy> = {
  blocklists,
  alerts,
  'alert-channels': alertChannels,
  'enrolment-tokens': enrolmentTokens,
  feeds,
  'fleet-bans': fleetBans,
  preview,
  reports,
  'sharing-rules': sharingRules,
}
