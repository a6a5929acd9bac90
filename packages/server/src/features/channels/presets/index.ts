import type { PresetId } from '@stockade/contract'
import { apprise } from './apprise.ts'
import { discord } from './discord.ts'
import { email } from './email.ts'
import { gotify } from './gotify.ts'
import { matrix } from './matrix.ts'
import { ntfy } from './ntfy.ts'
import { opsgenie } from './opsgenie.ts'
import { pagerduty } from './pagerduty.ts'
import type { Preset } from './preset.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'
import { webhook } from './webhook.ts'

export const presets: Readonly<Record<PresetId, Preset>> = {
  email,
  slack,
  discord,
  teams,
  telegram,
  ntfy,
  gotify,
  matrix,
  pagerduty,
  opsgenie,
  apprise,
  webhook,
}
