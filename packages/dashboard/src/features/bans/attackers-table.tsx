import { memo, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { IconArrowDown, IconArrowUp, IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { Spark } from '../../kit/charts/spark.tsx'
import check from '../../kit/check.module.css'
import { Flag } from '../../kit/flag.tsx'
import { useWords } from '../../kit/now.ts'
import parts from '../../kit/parts.module.css'
import { Stranger } from '../../kit/stranger.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { exactTime, shortDay } from '../../lib/time.ts'
import { AttackerActs, AttackerAddress } from './attacker-acts.tsx'
import { AttackerBans } from './attacker-bans.tsx'
import { AttackerState, LastSeen } from './attacker-state.tsx'
import type { Attacker } from './attackers-list.ts'
import { attackersTexts } from './attackers.texts.ts'
import { usualSort } from './filter.ts'
import type { AttackerSort } from './filter.ts'
import { BanValue, useBansSearch, useFilter } from './narrowing.tsx'
import { partsOfReason, reasonWords } from './reason-words.ts'
import { ReasonText } from './reason.tsx'
import type { AttackerSelection } from './selection.ts'
import styles from './attackers.module.css'

type Column = keyof (typeof attackersTexts)['en']['columns']
const columns: readonly Column[] = ['attacker', 'network', 'why', 'where', 'hours', 'when', 'state']
/** How a column sorts when its head is pressed, and when it is pressed again. */
const sorts: Partial<Record<Column, readonly [AttackerSort, AttackerSort]>> = {
  where: ['-servers', 'servers'],
  hours: ['-bans', 'bans'],
  when: ['-last', 'first'],
}

const Head = ({ column }: { column: Column }) => {
  const t = textsOf(attackersTexts)
  const { sort = usualSort.attackers } = useBansSearch()
  const filter = useFilter()
  const ways = sorts[column]
  const name = t.columns[column]
  if (!ways)
    return (
      <th scope="col" className={styles[column]}>
        {name}
      </th>
    )
  const [first, second] = ways
  const sorted = sort === first || sort === second ? (sort.startsWith('-') ? 'descending' : 'ascending') : 'none'
  const next = sort === first ? second : first
  return (
    <th scope="col" className={styles[column]} aria-sort={sorted}>
      <button
        type="button"
        className={styles.sort}
        onClick={() => filter({ sort: next === usualSort.attackers ? undefined : next })}
      >
        {name}
        {sorted === 'ascending' && <IconArrowUp size={14} />}
        {sorted === 'descending' && <IconArrowDown size={14} />}
      </button>
    </th>
  )
}

/** First and last time; the last one tells how long ago while it is of today. */
const When = ({ attacker }: { attacker: Attacker }) => {
  const [first, last] = [Date.parse(attacker.first_banned_at), Date.parse(attacker.last_banned_at)]
  const words = useWords(now => shortDay(first, now))
  return (
    <span title={textsOf(attackersTexts).between(exactTime(first), exactTime(last))}>
      {attacker.bans > 1 && <span className={styles.dim}>{words} – </span>}
      <LastSeen attacker={attacker} />
    </span>
  )
}

const Row = memo(function Row(props: {
  attacker: Attacker
  chosen: boolean
  open: boolean
  selection: AttackerSelection
  onOpen: (ip: string, open: boolean) => void
}) {
  const { attacker, chosen, open, selection, onOpen } = props
  const t = textsOf(attackersTexts)
  const { ip, asn, network } = attacker
  const inDay = attacker.hours.reduce((sum, count) => sum + count, 0)
  const onKey = (event: KeyboardEvent) => {
    const to = { ArrowRight: true, ArrowLeft: false }[event.key]
    if (to === undefined || to === open || event.target instanceof HTMLInputElement) return
    event.preventDefault()
    onOpen(ip, to)
  }
  return (
    <tr data-row data-chosen={chosen || undefined} data-unfolded={open || undefined} onKeyDown={onKey}>
      <td className={styles.check}>
        <label className={styles.box}>
          <input
            type="checkbox"
            className={check.check}
            aria-label={t.select(ip)}
            checked={chosen}
            onChange={event =>
              selection.toggle(attacker, event.nativeEvent instanceof MouseEvent && event.nativeEvent.shiftKey)
            }
          />
        </label>
      </td>
      <td className={styles.attacker}>
        <span className={styles.who}>
          <button
            type="button"
            className={styles.chevron}
            aria-expanded={open}
            aria-label={t.unfold(ip)}
            onClick={() => onOpen(ip, !open)}
          >
            {open ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
          </button>
          <Flag code={attacker.country} />
          <AttackerAddress attacker={attacker} />
        </span>
      </td>
      <td className={styles.network}>
        {asn && (
          <BanValue field="asn" value={asn.replace(/^AS/, '')} shown={network ?? asn}>
            <Stranger text={network ?? asn} most={80} />
          </BanValue>
        )}
      </td>
      <td className={styles.why} title={partsOfReason(reasonWords(attacker.reason)).join('')}>
        <span data-none={attacker.reason === null || undefined}>
          <ReasonText reason={attacker.reason} />
        </span>
      </td>
      <td className={styles.where} title={attacker.jails.join(', ')}>
        {t.servers(number(attacker.servers), attacker.servers)}
        <span className={`${styles.dim} ${styles.jails}`}>
          {' · '}
          {t.jails(number(attacker.jail_count), attacker.jail_count)}
        </span>
      </td>
      <td className={styles.hours}>
        <Spark counts={attacker.hours} label={t.inHours(number(inDay), inDay)} />
      </td>
      <td className={styles.when}>
        <When attacker={attacker} />
      </td>
      <td className={styles.state}>
        <AttackerState attacker={attacker} />
        <AttackerActs attacker={attacker} />
      </td>
    </tr>
  )
})

export const AttackerTable = ({ rows, selection }: { rows: readonly Attacker[]; selection: AttackerSelection }) => {
  const t = textsOf(attackersTexts)
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const [onOpen] = useState(
    () => (ip: string, open: boolean) =>
      setOpened(before => new Set(open ? [...before, ip] : [...before].filter(one => one !== ip))),
  )
  const all = rows.length > 0 && rows.every(({ ip }) => selection.chosen.has(ip))
  const some = rows.some(({ ip }) => selection.chosen.has(ip))
  return (
    <div className={styles.room}>
      <table className={styles.table} data-selecting={selection.chosen.size > 0 || undefined}>
        <caption className={parts.hidden}>{t.attackers}</caption>
        <thead>
          <tr>
            <th scope="col" className={styles.check}>
              <label className={styles.box}>
                <input
                  type="checkbox"
                  className={check.check}
                  aria-label={t.selectPage}
                  checked={all}
                  ref={box => {
                    if (box) box.indeterminate = some && !all
                  }}
                  onChange={() => selection.set(rows, !all)}
                />
              </label>
            </th>
            {columns.map(column => (
              <Head key={column} column={column} />
            ))}
          </tr>
        </thead>
        {rows.map(attacker => (
          <tbody key={attacker.ip}>
            <Row
              attacker={attacker}
              chosen={selection.chosen.has(attacker.ip)}
              open={opened.has(attacker.ip)}
              selection={selection}
              onOpen={onOpen}
            />
            {opened.has(attacker.ip) && <AttackerBans attacker={attacker} />}
          </tbody>
        ))}
      </table>
    </div>
  )
}

/** On phones: three lines a row, and all that can be done on the page of the address. */
export const AttackerRows = ({ rows }: { rows: readonly Attacker[] }) => {
  const t = textsOf(attackersTexts)
  return (
    <ul className={styles.rows} aria-label={t.attackers}>
      {rows.map(attacker => (
        <li key={attacker.ip} data-row>
          <Link
            to="/ip/$addr"
            params={{ addr: attacker.ip }}
            search={{}}
            preload={false}
            className={styles.line}
            data-open
            data-ban={attacker.ip}
          >
            <span>
              <Flag code={attacker.country} />
              <bdi className={styles.ip}>{attacker.ip}</bdi>
              <AttackerState attacker={attacker} part="state" />
            </span>
            <span className={styles.reason}>
              <ReasonText reason={attacker.reason} />
            </span>
            <span className={styles.dim}>
              <span>
                {t.servers(number(attacker.servers), attacker.servers)} · <LastSeen attacker={attacker} />
              </span>
              <AttackerState attacker={attacker} part="until" />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
