import type { ServerRow } from '../../api/queries.ts'
import { Spark } from '../../kit/charts/spark.tsx'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Choose, HealthShape, Name, RoleOrProblem, Seen } from './server-parts.tsx'
import type { ShownServers } from './server-parts.tsx'
import { serversTexts } from './servers.texts.ts'
import styles from './servers.module.css'

/** Servers where a table has no room: two lines each. */
export const ServerCards = ({ groups, chosen, onChosen }: ShownServers) => {
  const t = textsOf(serversTexts)
  return (
    <div className={styles.frame}>
      {groups.map(({ name, rows }) => (
        <section key={name}>
          <h2 className={styles.groupHead}>{t.groups(t.groupNames[name], rows.length)}</h2>
          <ul data-group={name}>
            {rows.map(server => (
              <Card key={server.id} server={server} chosen={chosen} onChosen={onChosen} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

const Card = ({ server, chosen, onChosen }: { server: ServerRow } & Pick<ShownServers, 'chosen' | 'onChosen'>) => {
  const t = textsOf(serversTexts)
  const hours = server.bans_24h ?? []
  return (
    <li className={styles.card} data-row data-away={server.status !== 'online' || undefined}>
      <Choose server={server} chosen={chosen} onChosen={onChosen} />
      <HealthShape server={server} />
      <div className={styles.cardText}>
        <Name server={server} />
        <span className={styles.about}>
          <RoleOrProblem server={server} />
        </span>
      </div>
      <Spark counts={hours} width={60} label={t.hours(number(hours.reduce((sum, count) => sum + count, 0)))} />
      <div className={styles.cardEnd}>
        <span className={styles.banned}>{t.banned(number(server.current_bans))}</span>
        <span className={styles.seen}>
          <Seen server={server} />
        </span>
      </div>
    </li>
  )
}
