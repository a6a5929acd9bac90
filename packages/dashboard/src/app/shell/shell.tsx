import { Fragment, Suspense, lazy, useEffect, useState } from 'react'
import { IconBook2, IconMenu2 } from '@tabler/icons-react'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { live, useLive } from '../../api/live.ts'
import { summaryQuery } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { worstOf } from '../../features/fleet/protection.tsx'
import { InShell } from '../../features/navigation/lone-pages.tsx'
import { groupsFor, isWithin } from '../../features/navigation/places.ts'
import type { NavItem } from '../../features/navigation/places.ts'
import { shellTexts } from '../../features/navigation/shell.texts.ts'
import { Announcer } from '../../kit/announce.tsx'
import { DemoTag } from '../../kit/demo-tag.tsx'
import { TitlePlace } from '../../kit/page.tsx'
import { Shape } from '../../kit/state.tsx'
import { TimeSentence } from '../../kit/time.tsx'
import { builtVersion } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { useActivityCounts } from './activity.ts'
import { activityTexts } from './activity.texts.ts'
import { initialsOf } from './initials.ts'
import { FindBox, FindButton } from './find/find-box.tsx'
import { LiveWord } from './live-word.tsx'
import { OwnBan } from './own-ban.tsx'
import { ProofAsked } from './proof-asked.tsx'
import styles from './shell.module.css'

const Second = lazy(() => import('./second.tsx'))
const AccountMenu = lazy(() => import('./account-menu.tsx'))

const inShell = { findButton: <FindButton /> }

/** Surrounds every page of a signed-in user. */
export const Shell = () => {
  const t = textsOf(shellTexts)
  const me = useMe()
  const { phase, since } = useLive()
  const [titlePlace, setTitlePlace] = useState<HTMLElement | null>(null)
  const [noticesPlace, setNoticesPlace] = useState<HTMLElement | null>(null)
  const [activityPlace, setActivityPlace] = useState<HTMLElement | null>(null)
  useEffect(() => live.start(), [])
  return (
    <>
      <a className={styles.skip} href="#content" onClick={skip}>
        {t.skip}
      </a>
      <Rail />
      <header className={styles.bar}>
        <img className={styles.barBrand} src="./icon.svg" alt="" />
        <div className={styles.title} ref={setTitlePlace} />
        <DemoTag className={styles.barTag} />
        <span ref={setNoticesPlace} />
        <FindBox />
        <LiveWord />
        <span className={styles.activityPlace} ref={setActivityPlace} />
        {me && (
          <Suspense fallback={<span className={styles.account}>{initialsOf(me.username)}</span>}>
            <AccountMenu me={me} />
          </Suspense>
        )}
      </header>
      {phase === 'offline' && (
        <p className={styles.stale} role="alert">
          <TimeSentence at={new Date(since).toISOString()} say={t.stale} />
        </p>
      )}
      <main id="content" className={styles.main} tabIndex={-1} data-stale={phase === 'offline' || undefined}>
        {me?.server_access === 'specific' && <Limited />}
        <Suspense>
          {/* Before the page, and never after it: a card that comes later would push the page down. */}
          <OwnBan />
          <TitlePlace value={titlePlace}>
            <InShell value={inShell}>{titlePlace && <Outlet />}</InShell>
          </TitlePlace>
        </Suspense>
      </main>
      <Announcer />
      {/* A request that is refused before anybody can ask for a proof fails, so this is there as soon as the page is. */}
      <ProofAsked />
      <Suspense>
        <Second activityPlace={activityPlace} noticesPlace={noticesPlace} />
      </Suspense>
    </>
  )
}

const Rail = () => {
  const t = textsOf(shellTexts)
  const me = useMe()
  return (
    <nav className={styles.rail} aria-label={t.navigation}>
      <Link to="/" className={styles.brand} tabIndex={-1}>
        <img src="./icon.svg" alt="" />
        <span>{textsOf(commonTexts).product}</span>
        <DemoTag />
      </Link>
      <ul className={styles.items}>
        {groupsFor(me?.role).map(({ name, items }) => (
          <Fragment key={name}>
            {name !== 'see' && <li className={`${styles.group} ${styles.rest}`}>{t.groups[name]}</li>}
            {items.map(item => (
              <Item key={item.to} {...item} />
            ))}
          </Fragment>
        ))}
        <li className={styles.only}>
          <Link to="/more" className={styles.item} data-within={useIsWithinMore() || undefined}>
            <IconMenu2 size={18} stroke={1.75} />
            <span>{t.more}</span>
            <Badge />
          </Link>
        </li>
      </ul>
      <p className={styles.foot}>
        <span title={t.version(builtVersion)}>{builtVersion}</span>
        <a href="./api/docs" target="_blank" rel="noreferrer" aria-label={t.help} title={t.help}>
          <IconBook2 size={16} stroke={1.75} />
        </a>
      </p>
    </nav>
  )
}

const Item = (item: NavItem) => {
  const { to, icon: Icon, text, first } = item
  const isCurrent = useRouterState({ select: ({ location }) => 'within' in item && isWithin(item, location.pathname) })
  return (
    <li className={first ? styles.place : `${styles.place} ${styles.rest}`}>
      <Link
        to={to}
        className={styles.item}
        activeOptions={{ exact: to === '/', includeSearch: false }}
        aria-current={isCurrent ? 'page' : undefined}
      >
        <Icon size={16} stroke={1.75} />
        <span>{textsOf(shellTexts)[text]}</span>
        {to === '/servers' && <Attention />}
      </Link>
    </li>
  )
}

/** Whether the page is one that phones reach by “More”, which is lit then. */
const useIsWithinMore = () =>
  useRouterState({
    select: ({ location: { pathname } }) =>
      groupsFor('Admin')
        .filter(({ name }) => name !== 'see')
        .some(({ items }) => items.some(item => isWithin(item, pathname))),
  })

/** How many servers need attention, with the shape of the worst. */
const Attention = () => {
  const t = textsOf(shellTexts)
  const worst = worstOf(useQuery({ ...summaryQuery, enabled: false }).data)
  return worst === null ? null : (
    <b className={styles.attention} data-tone={worst.tone} title={t.attention(worst.count)}>
      <Shape tone={worst.tone} />
      <span aria-hidden="true">{worst.count}</span>
    </b>
  )
}

/** On phones: how much goes on that the page “More” shows. */
const Badge = () => {
  const { running, waiting, failed } = useActivityCounts()
  const count = running + waiting + failed
  return count === 0 ? null : (
    <b className={styles.badge} data-failed={failed > 0 || undefined} aria-label={textsOf(activityTexts).more(count)}>
      {count}
    </b>
  )
}

/** The base element would turn `#content` into another page. */
const skip = (event: { preventDefault(): void }) => {
  event.preventDefault()
  document.querySelector<HTMLElement>('main')?.focus()
}

const Limited = () => {
  const count = useQuery(summaryQuery).data?.servers.length
  return count === undefined ? null : <p className={styles.limited}>{textsOf(shellTexts).limited(count)}</p>
}
