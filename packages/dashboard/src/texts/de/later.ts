import type { First, Texts } from '../texts.ts'
import { commands, templates, whitelist } from './control.ts'
import { keys, preferences, views } from './entry.ts'
import { rotateKey, steps, timeRange } from './hosts.ts'
import { account, audit, identity, users } from './people.ts'
import { portknock } from './portknock.ts'
import { backup, licence, notifications, settings } from './settings.ts'
import { siem } from './siem.ts'

export const texts: Omit<Texts, First> = {
  account,
  preferences,
  'rotate-key': rotateKey,
  audit,
  commands,
  identity,
  portknock,
  backup,
  licence,
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
