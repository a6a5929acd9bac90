import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ReasonText } from '../bans/reason.tsx'
import { Spark } from '../../kit/charts/spark.tsx'
import { Flag } from '../../kit/flag.tsx'
import { Panel } from '../../kit/page.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { overviewTexts } from './overview.texts.ts'
import { attackingQuery } from './queries.ts'
import styles from './overview.module.css'

/** Attackers banned within the last quarter of an hour, the latest first: one row each. */
export const Attacking = () => {
  const t = textsOf(overviewTexts)
  const query = useQuery(attackingQuery)
  const attackers = query.data
  return (
    <Panel
      title={t.attacking}
      aside={
        <>
          {attackers && <span>{t.attackers(attackers.total, number(attackers.total))}</span>}
          <Link to="/bans" search={{}}>
            {t.allBans}
          </Link>
        </>
      }
    >
      <Trouble what={t.whatAttacking} query={query} />
      {query.isPending && (
        <div className={styles.attackersRoom}>
          <Waiting lines={5} />
        </div>
      )}
      {attackers && (
        <ul className={styles.attackers}>
          {attackers.attackers.length === 0 && <li className={styles.quiet}>{t.quietNow}</li>}
          {/* By their place: a new one changes what the lines say, and moves none of them. */}
          {attackers.attackers.map(({ ip, country, reason, hours, servers, bans }, place) => (
            <li key={place}>
              <Flag code={country} />
              <Link to="/ip/$addr" params={{ addr: ip }} search={{}} preload={false} className={styles.attacker}>
                {ip}
              </Link>
              <span className={styles.why}>
                <ReasonText reason={reason} />
              </span>
              <Spark
                counts={hours}
                width={60}
                label={t.hours(
                  number(hours.reduce((sum, count) => sum + count, 0)),
                  hours.reduce((sum, count) => sum + count, 0),
                )}
              />
              <span className={styles.onServers} title={t.bansOf(bans, number(bans))}>
                {t.onServers(servers, number(servers))}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
