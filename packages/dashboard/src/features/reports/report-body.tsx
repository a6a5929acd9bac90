import type { ReactNode } from 'react'
import { Link } from '@tanstack/react-router'
import { Spark } from '../../kit/charts/spark.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import type { Tone } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { DatedTime } from '../../kit/time.tsx'
import { clip } from '../../lib/clip.ts'
import { countryName } from '../../lib/countries.ts'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { daysBetween } from '../../lib/time.ts'
import { auditTexts } from '../audit/audit.texts.ts'
import type { Report } from './queries.ts'
import { reportsTexts } from './reports.texts.ts'
import styles from './reports.module.css'

/** The report itself: what is on the screen, in the mail and on paper. */
export const ReportBody = ({ report }: { report: Report }) => {
  const t = textsOf(reportsTexts)
  const { attacks, period, first_day: first, last_day: last } = report
  const days = daysBetween(first, last)
  return (
    <article className={styles.report} aria-label={`${t.titles[period]} ${days}`}>
      <Panel title={`${t.titles[period]} · ${days}`}>
        <p className={styles.answer}>{t.answer(attacks.bans, number(attacks.bans), report.servers)}</p>
        <p className={parts.muted}>
          {!report.complete && `${t.running} `}
          {t.zone(report.timezone)}
        </p>
        <Facts report={report} />
        <Spark counts={attacks.series.map(({ bans }) => bans)} label={t.overTime} width={600} height={64} />
      </Panel>
      <Attention report={report} />
      <Tops report={report} />
      {report.work && <Work work={report.work} />}
      <Alerts report={report} />
      {report.changes && <Changes changes={report.changes} />}
    </article>
  )
}

const Facts = ({ report: { attacks, period } }: { report: Report }) => {
  const t = textsOf(reportsTexts)
  const lines = [
    [t.bans, attacks.bans, attacks.bans_before],
    [t.attackers, attacks.attackers, attacks.attackers_before],
  ] as const
  return (
    <dl className={styles.facts}>
      {lines.map(([name, now, before]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{now === null ? t.counting : number(now)}</dd>
          <dd className={parts.muted}>
            {t.before[period]}: {before === null ? '…' : number(before)}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const tones: Readonly<Record<Report['attention'][number]['kind'], Tone>> = {
  unprotected: 'danger',
  offline: 'neutral',
  cloned: 'danger',
  quarantined: 'warn',
  degraded: 'warn',
  failed_commands: 'danger',
  old_agent: 'neutral',
}
const Attention = ({ report: { attention, attention_total: total } }: { report: Report }) => {
  const t = textsOf(reportsTexts)
  return (
    <Panel title={t.attention}>
      {total === 0 && <p>{t.allWell}</p>}
      <ul className={styles.lines}>
        {attention.map(({ server, kind, detail }) => (
          <li key={`${kind} ${server.id}`}>
            <Mark tone={tones[kind]}>{t.kinds[kind]}</Mark>
            <Link to="/servers/$serverId" params={{ serverId: server.id }}>
              <Stranger text={server.hostname} most={60} />
            </Link>
            {detail && <Stranger text={detail} most={200} />}
          </li>
        ))}
      </ul>
      {total > attention.length && <p className={parts.muted}>{t.more(total - attention.length)}</p>}
    </Panel>
  )
}

interface TopRow {
  readonly key: string
  readonly name: ReactNode
  readonly bans: number
  readonly before?: number
}
const Tops = ({ report: { attacks, period } }: { report: Report }) => {
  const t = textsOf(reportsTexts)
  const nameText = (text: string) => <Stranger text={text} most={60} />
  const tables: readonly (readonly [string, readonly TopRow[] | null])[] = [
    [
      t.servers,
      attacks.servers.map(({ server, ...row }) => ({ ...row, key: server.id, name: nameText(server.hostname) })),
    ],
    [t.jails, attacks.jails.map(({ jail, ...row }) => ({ ...row, key: jail, name: nameText(jail) }))],
    [
      t.countries,
      attacks.countries.map(({ code, bans, before }) => ({
        ...{ key: code, bans, before },
        name: code === 'ZZ' ? t.unknown : countryName(code),
      })),
    ],
    [
      t.networks,
      attacks.networks &&
        attacks.networks.map(({ asn, asn_org: org, bans }) => ({
          ...{ key: asn ?? '', bans },
          name: nameText([asn, org].filter(Boolean).join(' ') || t.unknown),
        })),
    ],
    [
      t.addresses,
      attacks.addresses && attacks.addresses.map(({ ip, bans }) => ({ key: ip, bans, name: nameText(ip) })),
    ],
  ]
  return (
    <div className={styles.tops}>
      {tables.map(([title, rows]) => (
        <Panel key={title} title={title}>
          {rows === null && <p className={parts.muted}>{t.counting}</p>}
          {rows?.length === 0 && <p className={parts.muted}>{t.none}</p>}
          {rows && rows.length > 0 && <TopTable title={title} rows={rows} before={t.before[period]} />}
        </Panel>
      ))}
    </div>
  )
}
const TopTable = ({ title, rows, before }: { title: string; rows: readonly TopRow[]; before: string }) => {
  const t = textsOf(reportsTexts)
  const compares = rows.some(row => row.before !== undefined)
  return (
    <table className={styles.table} aria-label={title}>
      <thead>
        <tr>
          <th scope="col">{t.name}</th>
          <th scope="col">{t.bans}</th>
          {compares && <th scope="col">{before}</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr key={row.key}>
            <th scope="row">{row.name}</th>
            <td>{number(row.bans)}</td>
            {compares && <td className={parts.muted}>{number(row.before ?? 0)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const Work = ({ work }: { work: NonNullable<Report['work']> }) => {
  const t = textsOf(reportsTexts)
  const { created, ended, standing } = work.fleet_bans
  return (
    <Panel title={t.work}>
      <p>{t.fleetBans(number(created), number(ended), number(standing))}</p>
      <ul className={styles.lines}>
        {work.rules.map(({ name, banned, refused }) => (
          <li key={`rule ${name}`}>
            <Stranger text={name} most={100} />
            <span className={parts.muted}>{t.rule(number(banned), number(refused))}</span>
          </li>
        ))}
        {work.lists.map(({ name, packets, entries, stale }) => (
          <li key={`list ${name}`}>
            <Stranger text={name} most={100} />
            <span className={parts.muted}>{t.list(number(packets), number(entries))}</span>
            {stale && <Mark tone="warn">{t.stale}</Mark>}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

const Alerts = ({ report: { alerts, alerts_total: total } }: { report: Report }) => {
  const t = textsOf(reportsTexts)
  const toneOf = (severity: string): Tone =>
    severity === 'critical' ? 'danger' : severity === 'warning' ? 'warn' : 'info'
  return (
    <Panel title={t.alerts}>
      {total === 0 && <p>{t.noAlerts}</p>}
      <ul className={styles.lines}>
        {alerts.map(({ title, severity, fired_at: at, firing }) => (
          <li key={`${at} ${title}`}>
            <Mark tone={toneOf(severity)}>{clip(title, 200).shown}</Mark>
            <span className={parts.muted}>
              <DatedTime at={at} />
              {firing && ` · ${t.firing}`}
            </span>
          </li>
        ))}
      </ul>
      {total > alerts.length && <p className={parts.muted}>{t.more(total - alerts.length)}</p>}
    </Panel>
  )
}

const Changes = ({ changes }: { changes: NonNullable<Report['changes']> }) => {
  const t = textsOf(reportsTexts)
  const words: Readonly<Record<string, string | undefined>> = textsOf(auditTexts).actions
  return (
    <Panel title={t.changes}>
      {changes.length === 0 && <p>{t.noChanges}</p>}
      <ul className={styles.lines}>
        {changes.map(({ action, count }) => (
          <li key={action}>
            {words[action] ?? action} <span className={parts.muted}>{number(count)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
