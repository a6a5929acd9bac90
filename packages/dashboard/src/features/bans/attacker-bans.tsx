import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Ban } from '../../api/queries.ts'
import { useWords } from '../../kit/now.ts'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Ends } from '../../kit/time.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { number } from '../../lib/numbers.ts'
import { exactTime, shortDay } from '../../lib/time.ts'
import { attackerBansQuery } from './attackers-list.ts'
import type { Attacker } from './attackers-list.ts'
import { attackersTexts } from './attackers.texts.ts'
import { stateOf } from './ban-state.ts'
import { bansTexts } from './bans.texts.ts'
import { useBansSearch } from './narrowing.tsx'
import { ReasonText } from './reason.tsx'
import styles from './attackers.module.css'

const most = 3

/** The newest bans of an attacker under its row, and how many more there are. */
export const AttackerBans = ({ attacker }: { attacker: Attacker }) => {
  const search = useBansSearch()
  const query = useQuery(attackerBansQuery(search, attacker.ip))
  const bans = query.data?.bans
  if (!bans)
    return (
      <Whole>
        {query.isError ? (
          <Trouble what={textsOf(bansTexts).what} query={query} />
        ) : (
          <span className={styles.dim}>{textsOf(commonTexts).loading}</span>
        )}
      </Whole>
    )
  const firstBans = bans.slice(0, most)
  const rest = (query.data?.total ?? 0) - firstBans.length
  return (
    <>
      {firstBans.map((ban, index) => (
        <Sub key={ban.id} ban={ban} last={rest <= 0 && index === firstBans.length - 1} />
      ))}
      {rest > 0 && (
        <Whole>
          <Link
            to="/bans"
            search={{ ...search, by: 'bans', ip: attacker.ip, sort: undefined, page: undefined }}
            className={styles.further}
          >
            <Rest rest={rest} bans={bans} total={query.data?.total ?? 0} />
          </Link>
        </Whole>
      )}
    </>
  )
}

const others = ['network', 'why', 'where', 'hours', 'when', 'state'] as const
/** A row of one text. It has all cells: one that spanned them would count the columns that are left out for want of room. */
const Whole = ({ children }: { children: ReactNode }) => (
  <tr className={styles.sub} data-last>
    <td />
    <td className={`${styles.attacker} ${styles.inset} ${styles.whole}`}>
      <div>{children}</div>
    </td>
    {others.map(column => (
      <td key={column} className={styles[column]} />
    ))}
    <td />
  </tr>
)

/** The servers of the rest are told only where all of its bans were read. */
const Rest = ({ rest, bans, total }: { rest: number; bans: readonly Ban[]; total: number }) => {
  const t = textsOf(attackersTexts)
  const words = t.moreBans(number(rest), rest)
  if (total > bans.length) return words
  const servers = new Set(bans.slice(most).map(({ server }) => server.id)).size
  return t.more(words, t.servers(number(servers), servers))
}

const Sub = ({ ban, last }: { ban: Ban; last: boolean }) => {
  const at = Date.parse(ban.banned_at)
  return (
    <tr className={styles.sub} data-last={last || undefined}>
      <td />
      <td className={`${styles.attacker} ${styles.inset}`}>
        <Link to="/servers/$serverId" params={{ serverId: ban.server.id }} className={styles.server}>
          <Stranger text={ban.server.hostname} most={80} />
        </Link>
      </td>
      <td className={styles.network}>
        <Stranger text={ban.jail} most={64} />
      </td>
      <td className={styles.why}>
        <ReasonText reason={ban.reason} />
      </td>
      <td className={styles.where} />
      <td className={styles.hours} />
      <td className={styles.when}>
        <Link
          to="/bans/$banId"
          params={{ banId: String(ban.id) }}
          search={before => before}
          title={exactTime(at)}
          data-ban={ban.id}
        >
          <span className={parts.hidden}>{textsOf(bansTexts).details(ban.ip)} </span>
          {useWords(now => shortDay(at, now))}
        </Link>
      </td>
      <td className={styles.state}>
        <State is={stateOf(ban)} />
        <span className={styles.until}>{ban.active && <Ends ban={ban} />}</span>
      </td>
      <td />
    </tr>
  )
}
