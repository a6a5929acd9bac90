import { useEffect, useMemo } from 'react'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
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
import { usePhone } from '../../kit/width.ts'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { overviewTexts } from './overview.texts.ts'

const periods = ['day', 'week', 'month'] as const
/* The shell is usable before the figures are there; they are on their way from the first moment all the same. */
const first = import('./filled.tsx').catch(() => null)
const loadFilled = async () => ((await first) ?? (await import('./filled.tsx'))).Filled
const searchOf = (period: Period) => (period === 'day' ? {} : { period })

/** Does everything work, is anything unusual, am I affected. */
export const Overview = () => {
  const t = textsOf(overviewTexts)
  const { period = 'day', kiosk } = useSearch({ from: '/inside/' })
  const { may } = useMay('admin')
  const summary = useQuery(summaryQuery)
  const phone = usePhone()
  const isFilled = kiosk !== '1' && summary.data?.servers.length !== 0
  useKiosk(kiosk === '1', period)
  return (
    <Page title={t.title} range={!phone && isFilled && <Periods now={period} />}>
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
          {phone && isFilled && <Periods now={period} />}
          <Later load={loadFilled} given={{ period }} room={<Waiting />} />
        </>
      )}
    </Page>
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

/** On the wall there is nothing around the page; Escape leads back to the desk. */
const useKiosk = (is: boolean, period: Period) => {
  const navigate = useNavigate()
  useEffect(() => {
    if (!is) return
    document.documentElement.dataset.kiosk = ''
    const leave = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') void navigate({ to: '/', search: searchOf(period) })
    }
    addEventListener('keydown', leave)
    return () => {
      delete document.documentElement.dataset.kiosk
      removeEventListener('keydown', leave)
    }
  }, [is, period, navigate])
}
