import { Button } from '@mantine/core'
import { IconChevronLeft, IconChevronRight, IconPrinter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMay, useMe } from '../../api/session.ts'
import { Loading } from '../../kit/loading.tsx'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Segmented } from '../../kit/segmented.tsx'
import { isFirstRead } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { dateAfter } from './filter.ts'
import type { ReportPeriod, ReportsSearch } from './filter.ts'
import { reportQuery } from './queries.ts'
import { ReportBody } from './report-body.tsx'
import { reportsTexts } from './reports.texts.ts'
import { Schedules } from './schedules.tsx'
import styles from './reports.module.css'

const periods: readonly ReportPeriod[] = ['day', 'week', 'month']

/** One page about a day, a week or a month: as it is mailed, and as it is printed. */
export const Reports = () => {
  const t = textsOf(reportsTexts)
  const search = useSearch({ from: '/inside/reports' })
  const query = useQuery(reportQuery(search))
  const { may: isAdmin } = useMay('admin')
  const isRestricted = useMe()?.server_access === 'specific'
  return (
    <Page title={t.title} tools={<Tools />} actions={<Moves />}>
      <Loading what={t.what} query={query} lines={6} />
      {query.data && <ReportBody report={query.data} />}
      {isAdmin && !isRestricted && !isFirstRead(query) && <Schedules />}
    </Page>
  )
}

const useGo = () => {
  const navigate = useNavigate()
  return (search: ReportsSearch) => void navigate({ to: '/reports', search })
}

const Tools = () => {
  const t = textsOf(reportsTexts)
  const { period = 'week', tag } = useSearch({ from: '/inside/reports' })
  const go = useGo()
  const ofTag = tag === undefined ? {} : { tag }
  return (
    <Segmented
      label={t.period}
      value={period}
      options={periods.map(value => ({ value, text: t.periods[value] }))}
      onChange={to => go({ ...ofTag, ...(to === 'week' ? {} : { period: to }) })}
    />
  )
}

const Moves = () => {
  const t = textsOf(reportsTexts)
  const search = useSearch({ from: '/inside/reports' })
  const report = useQuery(reportQuery(search)).data
  const go = useGo()
  const move = (days: (days: { first: string; last: string }) => string) => {
    if (report) go({ ...search, at: days({ first: report.first_day, last: report.last_day }) })
  }
  return (
    <div className={`${parts.row ?? ''} ${styles.moves ?? ''}`}>
      <Button
        variant="default"
        leftSection={<IconChevronLeft size={16} />}
        disabled={!report}
        onClick={() => move(({ first }) => dateAfter(first, -1))}
      >
        {t.older}
      </Button>
      <Button
        variant="default"
        rightSection={<IconChevronRight size={16} />}
        disabled={!report?.complete}
        onClick={() => move(({ last }) => dateAfter(last, 1))}
      >
        {t.newer}
      </Button>
      <Button variant="default" leftSection={<IconPrinter size={16} />} onClick={() => window.print()}>
        {t.print}
      </Button>
    </div>
  )
}
