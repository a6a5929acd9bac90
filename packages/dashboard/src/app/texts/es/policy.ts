import type { Policy, Texts } from '../texts.ts'
import { fleetBans } from './fleet-bans.ts'
import { sharingRules } from './sharing-rules.ts'

export const texts: Pick<Texts, Policy> = {
  'fleet-bans': fleetBans,
  'sharing-rules': sharingRules,
}
