import type { ServerRow } from '../../api/queries.ts'
import { CheckStrip } from '../fleet/check-strip.tsx'
import { Spark } from '../../kit/charts/spark.tsx'
import parts from '../../kit/parts.module.css'
import { number, percent } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Choose, HealthShape, Name, RoleOrProblem, RowActions, Seen } from './server-parts.tsx'
import type { ShownServers } from './server-parts.tsx'
import { serversTexts } from './servers.texts.ts'
import styles from './servers.module.css'

const numeric: ReadonlySet<string> = new Set(['jails', 'banned', 'seen'])

/** Servers in groups, one line each. Boxes and actions appear where the pointer or the focus is. */
export const ServersTable = (props: ShownServers) => {
  const t = textsOf(serversTexts)
  const { groups, chosen, onChosen } = props
  const columns = Object.entries(t.columns)
  return (
    <div className={styles.frame}>
      <table className={`${parts.table} ${styles.table}`} data-choosing={chosen.size > 0 || undefined}>
        <caption className={parts.hidden}>{t.caption}</caption>
        <thead>
          <tr>
            <th scope="col" className={styles.boxes}>
              <ChooseAll {...props} />
            </th>
            {columns.map(([key, name]) => (
              <th key={key} scope="col" data-column={key} className={numeric.has(key) ? parts.end : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        {groups.map(({ name, rows }) => (
          <tbody key={name} data-group={name}>
            <tr className={styles.group}>
              <th colSpan={columns.length + 1} scope="rowgroup">
                {t.groups(t.groupNames[name], rows.length)}
              </th>
            </tr>
            {rows.map(server => (
              <Row key={server.id} server={server} chosen={chosen} onChosen={onChosen} />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  )
}

const Row = ({ server, chosen, onChosen }: { server: ServerRow } & Pick<ShownServers, 'chosen' | 'onChosen'>) => {
  const t = textsOf(serversTexts)
  const hours = server.bans_24h ?? []
  const { metrics } = server
  return (
    <tr data-row aria-current={chosen.has(server.id) || undefined} data-away={server.status !== 'online' || undefined}>
      <td className={styles.boxes}>
        <Choose server={server} chosen={chosen} onChosen={onChosen} />
      </td>
      <td className={styles.names}>
        <HealthShape server={server} />
        <Name server={server} />
      </td>
      <td className={styles.about}>
        <RoleOrProblem server={server} />
      </td>
      <td>
        <CheckStrip marks={server.protection.marks} />
      </td>
      <td className={parts.end}>{number(server.active_jails)}</td>
      <td className={`${parts.end} ${styles.banned}`}>{number(server.current_bans)}</td>
      <td>
        <Spark counts={hours} label={t.hours(number(hours.reduce((sum, count) => sum + count, 0)))} />
      </td>
      <td>
        <Gauge label={t.cpu} value={metrics?.cpu_percent ?? null} />
      </td>
      <td>
        <Gauge label={t.memory} value={metrics?.memory_percent ?? null} />
      </td>
      <td>
        <Gauge label={t.disk} value={metrics?.disk_percent ?? null} />
      </td>
      <td className={`${parts.end} ${styles.seen}`}>
        <Seen server={server} />
        {onChosen && server.status !== 'pending' && <RowActions server={server} />}
      </td>
    </tr>
  )
}

const toneOf = (value: number) => (value >= 92 ? 'crit' : value >= 80 ? 'warn' : undefined)
/** A level as a small bar with its number. */
const Gauge = ({ label, value }: { label: string; value: number | null }) =>
  value === null ? (
    <span className={styles.unknown}>–</span>
  ) : (
    <span className={styles.gauge} title={`${label} ${percent(value)}`} data-tone={toneOf(value)}>
      <svg viewBox="0 0 32 5" width="32" height="5" aria-hidden="true">
        <rect className={styles.track} width="32" height="5" rx="2.5" />
        <rect width={(Math.min(100, value) / 100) * 32} height="5" rx="2.5" />
      </svg>
      <span>{percent(value)}</span>
    </span>
  )

const ChooseAll = ({ groups, chosen, onChosen }: ShownServers) => {
  const ids = groups.flatMap(({ rows }) => rows.map(({ id }) => id))
  return (
    onChosen && (
      <label className={styles.choose}>
        <input
          type="checkbox"
          aria-label={textsOf(serversTexts).chooseAll}
          checked={ids.every(id => chosen.has(id))}
          onChange={event => onChosen(event.currentTarget.checked ? new Set([...chosen, ...ids]) : new Set())}
        />
      </label>
    )
  )
}
