import { audit, commands, templates, users, whitelist } from './manage.ts'
import { duration, form, keys, rotateKey, steps, timeRange, views } from './parts.ts'
import { account, backup, identity, licence, notifications, preferences, settings } from './settings.ts'
import { siem } from './siem.ts'
import type { First, Policy, Texts } from '../texts.ts'
import { agentAddress, agents } from './agents.ts'
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
