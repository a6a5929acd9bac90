import { useMemo } from 'react'
import { IconDeviceTv, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { summaryQuery } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { Later } from '../../kit/charts/later.tsx'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import type { Period } from '../fleet/queries.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { useKeys } from '../../kit/keys.ts'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Segmented } from '../../kit/segmented.tsx'
import { useSlim } from '../../kit/width.ts'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { searchOf } from './filter.ts'
import { overviewTexts } from './overview.texts.ts'
import styles from './overview.module.css'
import { WallClock, periods, usePeriod, useWall } from './wall.tsx'

/* The shell is usable before the figures are there; they are on their way from the first moment all the same. */
const first = import('./filled.tsx').catch(() => null)
const loadFilled = async () => ((await first) ?? (await import('./filled.tsx'))).Filled

/** Does everything work, is anything unusual, am I affected. */
export const Overview = () => {
  const t = textsOf(overviewTexts)
  const { period: asked, kiosk } = useSearch({ from: '/inside/' })
  const { may } = useMay('admin')
  const summary = useQuery(summaryQuery)
  const isSlim = useSlim()
  const isWall = kiosk === '1'
  const period = usePeriod(asked, isWall)
  const isFilled = !isWall && summary.data?.servers.length !== 0
  useWall(isWall, period)
  return (
    <Page title={t.title} range={!isSlim && isFilled && <Range now={period} />}>
      {summary.data?.servers.length === 0 ? (
        <div className={parts.empty}>
          <h2 className={parts.panelTitle}>{t.emptyTitle}</h2>
          <p>{may ? t.empty : t.emptyForOthers}</p>
          {may && (
            <ButtonLink to="/servers/new" leftSection={<IconPlus size={16} />}>
              {t.add}
            </ButtonLink>
          )}
        </div>
      ) : (
        <>
          {isWall && <WallClock />}
          <Later
            load={loadFilled}
            given={{ period, isWall, periods: isSlim && isFilled ? <Periods now={period} /> : null }}
            room={<Waiting />}
          />
        </>
      )}
    </Page>
  )
}

const Range = ({ now }: { now: Period }) => {
  const t = textsOf(overviewTexts)
  return (
    <>
      <Periods now={now} />
      <Link to="/" search={{ ...searchOf(now), kiosk: '1' }} className={styles.wall} aria-label={t.wall} title={t.wall}>
        <IconDeviceTv size={18} stroke={1.75} />
      </Link>
    </>
  )
}

const Periods = ({ now }: { now: Period }) => {
  const t = textsOf(overviewTexts)
  const f = textsOf(fleetTexts)
  const navigate = useNavigate()
  const keys = useMemo(
    () =>
      periods.map((period, index) => ({
        key: String(index + 1),
        text: t.key(f.periods[period]),
        act: () => void navigate({ to: '/', search: searchOf(period) }),
      })),
    [t, f, navigate],
  )
  useKeys(keys)
  return (
    <Segmented
      label={f.period}
      value={now}
      onChange={period => void navigate({ to: '/', search: searchOf(period) })}
      options={periods.map(period => ({ value: period, text: f.periods[period] }))}
    />
  )
}
