import type { Report, ReportAttention } from '@stockade/contract'
import { tame } from '../../core/text.ts'
import type { Site } from '../channels/message.ts'

/* A report as titles, facts and tables, from which its forms for people are made: HTML, text, chat. */

/** A cell; `before` is the figure of the period before. */
export interface Row {
  readonly name: string
  readonly value: string
  readonly note: string
}
export interface Section {
  readonly title: string
  readonly rows: readonly Row[]
  /** Said where there are no rows, or below them. */
  readonly note: string
}
export interface Words {
  readonly title: string
  readonly lead: string
  readonly facts: readonly { readonly name: string; readonly value: string; readonly note: string }[]
  readonly sections: readonly Section[]
  readonly path: string
}

const number = new Intl.NumberFormat('en')
const periodNames = { day: 'Daily', week: 'Weekly', month: 'Monthly' } as const
const beforeNames = { day: 'the day before', week: 'the week before', month: 'the month before' } as const
const plural = (n: number, one: string, many = `${one}s`) => `${number.format(n)} ${n === 1 ? one : many}`

/** How a figure changed, such as `12 % more than the week before (1,204)`. */
const changeWords = (now: number, before: number, period: Report['period']): string => {
  if (now === before) return `as many as ${beforeNames[period]}`
  if (before === 0) return `none ${beforeNames[period]}`
  const percent = Math.round((100 * Math.abs(now - before)) / before)
  return `${number.format(percent)} % ${now > before ? 'more' : 'fewer'} than ${beforeNames[period]} (${number.format(before)})`
}

const attentionWords: Readonly<Record<ReportAttention, string>> = {
  unprotected: 'unprotected',
  degraded: 'degraded',
  offline: 'offline',
  quarantined: 'in quarantine',
  cloned: 'its identity is used by two machines',
  old_agent: 'old agent',
  failed_commands: 'failed commands',
}
const nameText = (text: string): string => tame(text, 200)

const tops = ({ attacks, period }: Report): Section[] => {
  const ofBans = ({ bans, before }: { bans: number; before?: number }) => ({
    value: number.format(bans),
    note: before === undefined ? '' : `${number.format(before)} ${beforeNames[period]}`,
  })
  return [
    {
      title: 'Most attacked servers',
      rows: attacks.servers.map(line => ({ name: nameText(line.server.hostname), ...ofBans(line) })),
      note: '',
    },
    { title: 'Jails', rows: attacks.jails.map(line => ({ name: nameText(line.jail), ...ofBans(line) })), note: '' },
    { title: 'Countries', rows: attacks.countries.map(line => ({ name: line.name, ...ofBans(line) })), note: '' },
    {
      title: 'Networks',
      rows: (attacks.networks ?? []).map(line => ({
        name: nameText([line.asn, line.asn_org].filter(Boolean).join(' ') || 'Unknown'),
        ...ofBans(line),
      })),
      note: '',
    },
    {
      title: 'Addresses',
      rows: (attacks.addresses ?? []).map(line => ({ name: line.ip, ...ofBans(line) })),
      note: '',
    },
  ].filter(({ rows }) => rows.length > 0)
}
const attentionSection = ({ attention, attention_total }: Report): Section => ({
  title: 'Needs attention',
  rows: attention.map(({ server, kind, detail }) => ({
    name: nameText(server.hostname),
    value: attentionWords[kind],
    note: nameText(detail),
  })),
  note:
    attention_total === 0
      ? 'None. Every server is protected and answers.'
      : attention_total > attention.length
        ? `${number.format(attention_total - attention.length)} more`
        : '',
})
const workSections = ({ work }: Report): Section[] =>
  work === null
    ? []
    : [
        {
          title: 'Fleet bans',
          rows: [
            { name: 'Began', value: number.format(work.fleet_bans.created), note: '' },
            { name: 'Ended', value: number.format(work.fleet_bans.ended), note: '' },
            { name: 'Stand now', value: number.format(work.fleet_bans.standing), note: '' },
          ],
          note: '',
        },
        {
          title: 'Sharing rules',
          rows: work.rules.map(({ name, banned, refused }) => ({
            name: nameText(name),
            value: plural(banned, 'ban'),
            note: refused > 0 ? `${number.format(refused)} refused` : '',
          })),
          note: work.rules.length === 0 ? 'No rule found anything.' : '',
        },
        {
          title: 'Blocklists',
          rows: work.lists.map(({ name, mode, entries, packets, stale }) => ({
            name: nameText(name),
            value: plural(packets, 'packet'),
            note: `${plural(entries, 'entry', 'entries')}, ${mode}${stale ? ', stale' : ''}`,
          })),
          note: '',
        },
      ].filter(({ rows, note }) => rows.length > 0 || note !== '')
const changeSection = ({ changes }: Report): Section[] =>
  changes === null
    ? []
    : [
        {
          title: 'What changed',
          rows: changes.map(({ action, count }) => ({
            name: action.replace(/[._]/g, ' '),
            value: number.format(count),
            note: '',
          })),
          note: changes.length === 0 ? 'Nothing.' : '',
        },
      ]
const alertSection = ({ alerts, alerts_total }: Report, { timezone }: Site): Section => {
  const when = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, dateStyle: 'medium', timeStyle: 'short' })
  return {
    title: 'Alerts',
    rows: alerts.map(({ title, severity, fired_at, firing }) => ({
      name: nameText(title),
      value: firing ? `${severity}, still firing` : severity,
      note: when.format(Date.parse(fired_at)),
    })),
    note:
      alerts_total === 0
        ? 'None fired.'
        : alerts_total > alerts.length
          ? `${number.format(alerts_total - alerts.length)} more`
          : '',
  }
}

/** @param name of the schedule, or null */
export const wordsOf = (report: Report, site: Site, name: string | null): Words => {
  const { period, first_day: first, last_day: last, attacks, timezone } = report
  const days = first === last ? first : `${first} to ${last}`
  const { attackers, attackers_before } = attacks
  const uncounted = attackers === null ? ' Attackers, networks and addresses could not be counted in time.' : ''
  return {
    title: `${name === null ? '' : `${nameText(name)}: `}${periodNames[period]} report, ${days}`,
    lead: `${plural(attacks.bans, 'ban')} on ${plural(report.servers, 'server')}, ${changeWords(attacks.bans, attacks.bans_before, period)}. Days are those of ${timezone}.${uncounted}`,
    facts: [
      {
        name: 'Bans',
        value: number.format(attacks.bans),
        note: changeWords(attacks.bans, attacks.bans_before, period),
      },
      ...(attackers === null
        ? []
        : [
            {
              name: 'Attackers',
              value: number.format(attackers),
              note: changeWords(attackers, attackers_before ?? 0, period),
            },
          ]),
      { name: 'Needs attention', value: number.format(report.attention_total), note: '' },
      { name: 'Alerts', value: number.format(report.alerts_total), note: '' },
    ],
    sections: [
      attentionSection(report),
      ...tops(report),
      ...workSections(report),
      alertSection(report, { ...site, timezone }),
      ...changeSection(report),
    ],
    path: `/reports?period=${period}&at=${first}`,
  }
}
