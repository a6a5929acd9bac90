import { lazy, useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { DatedTime } from '../../kit/time.tsx'
import { toasts } from '../../kit/toasts.ts'
import { Trouble, sentenceOf } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { sayTarget } from '../fleet/target-choice.tsx'
import { notificationsTexts } from '../settings/notifications.texts.ts'
import { settingsTexts } from '../settings/settings.texts.ts'
import { readSchedulesAgain, schedulesQuery } from './queries.ts'
import type { Schedule } from './queries.ts'
import { reportsTexts } from './reports.texts.ts'
import styles from './reports.module.css'

const ScheduleDialog = lazy(() => import('./schedule-dialog.tsx'))

const act = (run: Promise<{ message?: string }>) => {
  run
    .then(({ message }) => {
      if (message) toasts.show({ text: message })
      return readSchedulesAgain()
    })
    .catch((error: unknown) => void toasts.show({ text: sentenceOf(error), error: true }))
}

/** Who gets the report, and when. */
export const Schedules = () => {
  const t = textsOf(reportsTexts).schedules
  const query = useQuery(schedulesQuery)
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={styles.schedules}>
      <Panel title={t.title} aside={<SmallButton onClick={() => setOpen(true)}>{t.add}</SmallButton>}>
        <Trouble what={t.what} query={query} />
        {query.data?.schedules.every(({ builtin }) => builtin) && <p className={parts.muted}>{t.none}</p>}
        <ul className={styles.lines}>
          {query.data?.schedules.map(schedule => (
            <ScheduleLine key={schedule.id} schedule={schedule} />
          ))}
        </ul>
      </Panel>
      <Dialogs>{isOpen && <ScheduleDialog onClose={() => setOpen(false)} />}</Dialogs>
    </div>
  )
}

const ScheduleLine = ({ schedule }: { schedule: Schedule }) => {
  const all = textsOf(reportsTexts)
  const t = all.schedules
  const { id, builtin, period, recipients, channels, next_at: next } = schedule
  const name = builtin ? textsOf(notificationsTexts).summary : schedule.name
  const params = { id }
  const to = builtin
    ? channels.join(', ') || '–'
    : recipients.length + channels.length === 0
      ? t.toSettings
      : recipients.join(', ')
  return (
    <li>
      <b>
        <Stranger text={name} most={100} />
      </b>
      <span className={parts.muted}>
        {all.titles[period]} · {sayTarget(schedule.target)} · <bdi>{to}</bdi> ·{' '}
        {next === null ? (
          t.off
        ) : (
          <>
            {t.next}: <DatedTime at={next} />
          </>
        )}
      </span>
      {schedule.last_error !== null && <span className={parts.error}>{schedule.last_error}</span>}
      <span className={parts.row}>
        {(!builtin || schedule.enabled) && (
          <SmallButton
            aria-label={t.sendOf(name)}
            onClick={() => act(api.call('POST /reports/schedules/{id}/test', { params }))}
          >
            {t.send}
          </SmallButton>
        )}
        {builtin ? (
          <Link to="/settings/notifications">{textsOf(settingsTexts).notifications}</Link>
        ) : (
          <Acts schedule={schedule} />
        )}
      </span>
    </li>
  )
}

const Acts = ({ schedule: { id, name, enabled } }: { schedule: Schedule }) => {
  const t = textsOf(reportsTexts).schedules
  const params = { id }
  return (
    <>
      <SmallButton
        aria-label={t.turnOf(enabled, name)}
        onClick={() =>
          act(api.call('PATCH /reports/schedules/{id}', { params, body: { enabled: !enabled } }).then(() => ({})))
        }
      >
        {t.turn(enabled)}
      </SmallButton>
      <SmallButton
        aria-label={t.removeOf(name)}
        onClick={() => act(api.call('DELETE /reports/schedules/{id}', { params }).then(() => ({})))}
      >
        {t.remove}
      </SmallButton>
    </>
  )
}
