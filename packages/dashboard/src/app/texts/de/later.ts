import type { First, Policy, Texts } from '../texts.ts'
import { agentAddress, agents } from './agents.ts'
import { commands, templates, whitelist } from './control.ts'
import { duration, form, keys, preferences, rotateKey, steps, timeRange, views } from './parts.ts'
import { account, audit, identity, users } from './people.ts'
import { backup, licence, notifications, settings } from './settings.ts'
import { siem } from './siem.ts'
import { query } from './query.ts'

export const texts: Omit<Texts, First | Policy> = {
  query,
  duration,
  form,
  account,
  preferences,
  'rotate-key': rotateKey,
  audit,
  commands,
  identity,
  backup,
  licence,
  agents,
  'agent-address': agentAddress,
  notifications,
  settings,
  siem,
  templates,
  users,
  whitelist,
  keys,
  steps,
  'time-range': timeRange,
  views,
}
