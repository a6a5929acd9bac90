import type { Policy, Texts } from '../texts.ts'
import { alertChannels, alerts } from './alerts.ts'
import { fleetBans } from './fleet-bans.ts'
import { sharingRules } from './sharing-rules.ts'

export const texts: Pick<Texts, Policy> = {
  alerts,
  'alert-channels': alertChannels,
  'fleet-bans': fleetBans,
  'sharing-rules': sharingRules,
}
