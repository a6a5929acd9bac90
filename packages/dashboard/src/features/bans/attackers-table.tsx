import { useMemo, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { keysOf } from '@stockade/contract/records.ts'
import { Spark } from '../../kit/charts/spark.tsx'
import { Flag } from '../../kit/flag.tsx'
import type { ListColumn } from '../../kit/list-rows.ts'
import { ListTable } from '../../kit/list-table.tsx'
import { useWords } from '../../kit/now.ts'
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
import type { AttackerSort, BansSearch } from './filter.ts'
import { BanValue, useBansSearch, useFilter } from './narrowing.tsx'
import { partsOfReason, reasonWords } from './reason-words.ts'
import { ReasonText } from './reason.tsx'
import type { AttackerSelection } from './selection.ts'
import styles from './attackers.module.css'

type Column = keyof (typeof attackersTexts)['en']['columns']
/** How a column sorts when its head is pressed, and when it is pressed again. */
const sorts: Partial<Record<Column, readonly [AttackerSort, AttackerSort]>> = {
  where: ['-servers', 'servers'],
  hours: ['-bans', 'bans'],
  when: ['-last', 'first'],
}
const sortOf = (
  column: Column,
  sort: BansSearch['sort'] = usualSort.attackers,
  filter: ReturnType<typeof useFilter>,
): ListColumn<Attacker>['sort'] => {
  const ways = sorts[column]
  if (!ways) return undefined
  const [first, second] = ways
  const next = sort === first ? second : first
  return {
    is: sort === first || sort === second ? (sort.startsWith('-') ? 'descending' : 'ascending') : 'none',
    onSort: () => filter({ sort: next === usualSort.attackers ? undefined : next }),
  }
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

const Network = ({ attacker: { asn, network } }: { attacker: Attacker }) =>
  asn && (
    <BanValue field="asn" value={asn.replace(/^AS/, '')} shown={network ?? asn}>
      <Stranger text={network ?? asn} most={80} />
    </BanValue>
  )

const Where = ({ attacker }: { attacker: Attacker }) => {
  const t = textsOf(attackersTexts)
  return (
    <span title={attacker.jails.join(', ')}>
      {t.servers(number(attacker.servers), attacker.servers)}
      <span className={`${styles.dim} ${styles.jails}`}>
        {' · '}
        {t.jails(number(attacker.jail_count), attacker.jail_count)}
      </span>
    </span>
  )
}

const Hours = ({ attacker: { hours } }: { attacker: Attacker }) => {
  const inDay = hours.reduce((sum, count) => sum + count, 0)
  return <Spark counts={hours} label={textsOf(attackersTexts).inHours(number(inDay), inDay)} />
}

const Who = (props: { attacker: Attacker; isOpen: boolean; onOpen: (ip: string, open: boolean) => void }) => {
  const { attacker, isOpen, onOpen } = props
  const { ip, country } = attacker
  return (
    <span className={styles.who}>
      <button
        type="button"
        className={styles.chevron}
        aria-expanded={isOpen}
        aria-label={textsOf(attackersTexts).unfold(ip)}
        onClick={() => onOpen(ip, !isOpen)}
      >
        {isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
      </button>
      <Flag code={country} />
      <AttackerAddress attacker={attacker} />
    </span>
  )
}

const ipOf = ({ ip }: Attacker) => ip
const actsOf = (attacker: Attacker) => <AttackerActs attacker={attacker} />

/** One row an attacker, which unfolds to its bans: by its chevron, or by the arrow keys. */
export const AttackerTable = ({ rows, selection }: { rows: readonly Attacker[]; selection: AttackerSelection }) => {
  const t = textsOf(attackersTexts)
  const { sort } = useBansSearch()
  const filter = useFilter()
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const list = useMemo(() => {
    const onOpen = (ip: string, open: boolean) =>
      setOpened(before => new Set(open ? [...before, ip] : [...before].filter(one => one !== ip)))
    const cells: Readonly<Record<Column, ListColumn<Attacker>['cell']>> = {
      attacker: attacker => <Who attacker={attacker} isOpen={opened.has(attacker.ip)} onOpen={onOpen} />,
      network: attacker => <Network attacker={attacker} />,
      why: ({ reason }) => (
        <span data-none={reason === null || undefined} title={partsOfReason(reasonWords(reason)).join('')}>
          <ReasonText reason={reason} />
        </span>
      ),
      where: attacker => <Where attacker={attacker} />,
      hours: attacker => <Hours attacker={attacker} />,
      when: attacker => <When attacker={attacker} />,
      state: attacker => <AttackerState attacker={attacker} />,
    }
    return {
      onOpen,
      columns: keysOf(cells).map((key): ListColumn<Attacker> => ({
        key,
        name: t.columns[key],
        cell: cells[key],
        className: styles[key],
        sort: sortOf(key, sort, filter),
      })),
      dataOf: ({ ip }: Attacker) => ({ 'data-name': ip, ...(opened.has(ip) ? { 'data-unfolded': 'true' } : {}) }),
      subRows: (attacker: Attacker) => opened.has(attacker.ip) && <AttackerBans attacker={attacker} />,
    }
  }, [t, sort, filter, opened])
  const selecting = useMemo(() => ({ ...selection, nameOf: ipOf }), [selection])
  const onKey = (event: KeyboardEvent) => {
    const { target } = event
    const open = { ArrowRight: true, ArrowLeft: false }[event.key]
    if (open === undefined || !(target instanceof HTMLElement) || target instanceof HTMLInputElement) return
    const ip = target.closest<HTMLElement>('[data-row]')?.dataset.name
    if (ip === undefined || open === opened.has(ip)) return
    event.preventDefault()
    list.onOpen(ip, open)
  }
  return (
    <div className={styles.room} onKeyDown={onKey}>
      <ListTable
        caption={t.attackers}
        rows={rows}
        keyOf={ipOf}
        columns={list.columns}
        dataOf={list.dataOf}
        subRows={list.subRows}
        acts={actsOf}
        selection={selecting}
      />
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
