import { keysOf } from '@stockade/contract/records.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { agentAddressTexts } from '../agent-address/agent-address.texts.ts'
import { agentsTexts } from './agents.texts.ts'
import { backupTexts } from './backup.texts.ts'
import { licenceTexts } from './licence.texts.ts'
import { notificationsTexts } from './notifications.texts.ts'
import { settingsTexts } from './settings.texts.ts'

type Section = 'general' | 'security' | 'oauth' | 'notifications' | 'reputation' | 'backup' | 'licence' | 'agents'
export interface Found {
  readonly section: Section
  readonly name: string
}

const notificationNames = (): readonly (readonly [string, string])[] => {
  const n = textsOf(notificationsTexts)
  return [
    [n.webhook, `${n.chat} ${n.chatAbout}`],
    [n.host, `${n.email} SMTP`],
    [n.user, `${n.email} SMTP`],
    [n.pass, `${n.email} SMTP`],
    [n.tls, n.tlsHelp],
    [n.from, n.fromHelp],
    [n.recipients, n.email],
    [n.bans, n.bansHelp],
    [n.errors, n.errorsHelp],
    [n.syncs, n.syncsHelp],
    [n.hourTitle, `${n.hour} ${n.summaryHelp}`],
    [n.test, `${n.chat} ${n.email}`],
  ]
}

const all = (): readonly (Found & { readonly words: string })[] => {
  const s = textsOf(settingsTexts)
  const b = textsOf(backupTexts)
  const l = textsOf(licenceTexts)
  const a = textsOf(agentsTexts)
  const address = textsOf(agentAddressTexts)
  const listed: Record<Section, readonly (readonly [string, string])[]> = {
    general: [
      [s.siteName, s.siteNameHelp],
      [s.siteUrl, s.siteUrlHelp],
      [s.timezone, s.timezoneHelp],
    ],
    security: [
      [s.timeout, s.timeoutHelp],
      [s.length, s.lengthHelp],
      [s.factor, s.factorHelp],
      [s.passkey, s.passkeyHelp],
      [s.common, s.commonHelp],
      [s.selfTests, s.selfTestsHelp],
    ],
    oauth: [
      [s.provider_a, s.aboutA],
      [s.provider_b, s.aboutB],
      [s.users, s.usersHelp],
      [s.org, s.orgHelp],
      [s.domains, s.domainsHelp],
      [s.defaultRole, ''],
      [s.localOff, s.localHelp],
    ],
    notifications: notificationNames(),
    reputation: [
      [s.reputationEnabled, s.reputationAbout],
      [s.reputationKey, s.reputationKeyHelp],
      [s.reputationLimit, s.reputationLimitHelp],
    ],
    backup: [
      [b.exportTitle, b.exportText],
      [b.importTitle, `${b.merge} ${b.replace}`],
    ],
    agents: [
      [a.release, a.versions],
      [a.latest, a.rollBack],
      [address.title, `${address.order} ${address.withdraw}`],
    ],
    licence: [
      [l.title, `${l.tier} ${l.servers} ${l.features} ${l.expires}`],
      [l.enter, l.keyHelp],
    ],
  }
  return keysOf(listed).flatMap(section =>
    listed[section].map(([name, help]) => ({
      section,
      name,
      words: `${name} ${help} ${section === 'general' ? s.service : s[section]}`.toLowerCase(),
    })),
  )
}

/** Settings whose name, help or section holds every word; those whose name begins with what is typed come first. */
export const findSettings = (typed: string): readonly Found[] => {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const begins = ({ name }: Found) => (name.toLowerCase().startsWith(words[0] ?? '') ? 0 : 1)
  return all()
    .filter(one => words.every(word => one.words.includes(word)))
    .toSorted((a, b) => begins(a) - begins(b))
    .map(({ section, name }) => ({ section, name }))
}
