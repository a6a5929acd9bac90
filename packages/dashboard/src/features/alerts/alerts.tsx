import { lazy, useState } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { valueAt } from '@stockade/contract/records.ts'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { useWords } from '../../kit/now.ts'
import { Page, Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { Mark } from '../../kit/state.tsx'
import type { Tone } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { Waiting, isFirstRead } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { withLocalTimes } from '../../lib/time.ts'
import { alertsTexts } from './alerts.texts.ts'
import { Channels } from './channels.tsx'
import { alertsQuery, routeChannelsQuery, routesQuery, rulesQuery, silencesQuery } from './queries.ts'
import type { Alert } from './queries.ts'
import { Routes } from './routes.tsx'
import { Rules } from './rules.tsx'
import { Unheard } from './unheard.tsx'
import styles from './alerts.module.css'

const SilenceDialog = lazy(() => import('./silence-dialog.tsx'))

const tones: Readonly<Record<Alert['severity'], Tone>> = { critical: 'danger', warning: 'warn', info: 'info' }
const namesOf = ({ kind, rule, rule_name }: Alert): string => {
  const kinds: Readonly<Partial<Record<string, string>>> = textsOf(alertsTexts).kinds
  // A newer server may have kinds that this page does not know.
  return /^\d/.test(rule) ? rule_name : (kinds[kind] ?? rule_name)
}

/** Severities of alerts that fire and went to no channel; what most people want to hear where there is none. */
const unheardOf = (alerts: readonly Alert[]): Alert['severity'][] => {
  const untold = alerts.filter(
    ({ state, severity, acknowledged, channels }) =>
      state === 'firing' && severity !== 'info' && !acknowledged && channels.length === 0,
  )
  return untold.length === 0 ? ['critical', 'warning'] : [...new Set(untold.map(({ severity }) => severity))]
}

/** What the others say already; null where nothing is covered by the alert. */
const causesOf = (alert: Alert, all: readonly Alert[]): string | null => {
  const covered = all.filter(({ covered_by: cover, kind }) => cover === alert.id && kind !== 'server-degraded')
  return covered.length === 0 ? null : textsOf(alertsTexts).cause(covered.map(namesOf).join(', '))
}

/** What is wrong now, what was, and who hears of it. */
export const Alerts = () => {
  const t = textsOf(alertsTexts)
  const { may: mayAdmin } = useMay('admin')
  const query = useQuery(alertsQuery)
  const others = [
    useQuery(silencesQuery),
    useQuery(rulesQuery),
    useQuery({ ...routesQuery, enabled: mayAdmin }),
    useQuery({ ...routeChannelsQuery, enabled: mayAdmin }),
  ]
  const isWaiting = [query, ...others].some(isFirstRead)
  const [silenced, setSilenced] = useState<Alert | null>(null)
  const [isAdding, setAdding] = useState(false)
  const alerts = query.data?.alerts ?? []
  // One fault is one line: an alert that a more severe one covers is shown there as its cause.
  const isToldBy = (id: number | null) => id !== null && alerts.some(alert => alert.id === id)
  const inState = (state: Alert['state']) =>
    alerts
      .filter(alert => alert.state === state && !isToldBy(alert.covered_by))
      .map(alert => ({ alert, cause: causesOf(alert, alerts) }))
  const rest = (query.data?.total ?? 0) - alerts.length
  const pending = inState('pending')
  return (
    <Page title={t.title}>
      <div className={styles.panels}>
        {isWaiting && <Waiting lines={12} />}
        <Trouble what={t.what} query={query} />
        {!isWaiting && query.data && (
          <>
            {query.data.unheard > 0 && (
              <Unheard count={query.data.unheard} severities={unheardOf(alerts)} onAdd={() => setAdding(true)} />
            )}
            <Panel title={t.firing}>
              <AlertList alerts={inState('firing')} none={t.calm} onSilence={setSilenced} />
            </Panel>
            {pending.length > 0 && (
              <Panel title={t.pending}>
                <AlertList alerts={pending} none="" onSilence={setSilenced} />
              </Panel>
            )}
            <Panel title={t.recent}>
              <AlertList alerts={inState('resolved')} none={t.noneOver} />
              {rest > 0 && <p className={parts.muted}>{t.more(rest)}</p>}
            </Panel>
          </>
        )}
        {!isWaiting && (
          <>
            <Silences />
            {mayAdmin && <Routes />}
            {mayAdmin && <Channels isAdding={isAdding} onAdding={setAdding} />}
            <Rules />
          </>
        )}
      </div>
      <Dialogs>
        {silenced && <SilenceDialog alert={silenced} name={namesOf(silenced)} onClose={() => setSilenced(null)} />}
      </Dialogs>
    </Page>
  )
}

interface Listed {
  readonly alert: Alert
  readonly cause: string | null
}
const AlertList = (props: { alerts: readonly Listed[]; none: string; onSilence?: (alert: Alert) => void }) =>
  props.alerts.length === 0 ? (
    <p className={parts.muted}>{props.none}</p>
  ) : (
    <ul className={styles.list}>
      {props.alerts.map(({ alert, cause }) => (
        <li key={alert.id}>
          <Words is={alert} cause={cause} />
          {props.onSilence && <Acts is={alert} onSilence={props.onSilence} />}
        </li>
      ))}
    </ul>
  )

const Words = ({ is, cause }: { is: Alert; cause: string | null }) => {
  const t = textsOf(alertsTexts)
  const detail = useWords(now => withLocalTimes(is.server ? is.detail : `${is.title}. ${is.detail}`, now))
  const notes = [
    cause,
    is.flapping && t.flapping,
    is.silenced && t.silenced,
    is.acknowledged && t.ackedBy(is.acknowledged.by),
    is.state === 'firing' && is.told_at !== null && (is.channels.length > 0 ? t.toldOn(is.channels.length) : t.notTold),
  ].filter(note => typeof note === 'string')
  return (
    <div className={styles.words}>
      <span>
        <Mark tone={is.state === 'resolved' ? 'ok' : tones[is.severity]}>
          {is.state === 'resolved' ? t.over : t.severities[is.severity]}
        </Mark>{' '}
        <strong>{namesOf(is)}</strong>{' '}
        {is.server && (
          <Link to="/servers/$serverId" params={{ serverId: is.server.id }}>
            <Stranger text={is.server.hostname} most={60} />
          </Link>
        )}
      </span>
      <span className={parts.muted}>
        <Stranger text={detail} most={300} />
      </span>
      <span className={parts.muted}>
        <Time at={is.resolved_at ?? is.since} />
        {notes.map(note => ` · ${note}`)}
      </span>
    </div>
  )
}

const Acts = ({ is, onSilence }: { is: Alert; onSilence: (alert: Alert) => void }) => {
  const t = textsOf(alertsTexts)
  const { may } = useMay('write')
  const ack = useMutation({
    mutationFn: () => api.call('POST /alerts/{id}/ack', { params: { id: is.id }, body: {} }),
    onSettled: () => queries.invalidateQueries({ queryKey: alertsQuery.queryKey }),
  })
  const name = `${namesOf(is)} ${is.server?.hostname ?? ''}`.trim()
  if (!may) return null
  return (
    <div className={parts.row}>
      {!is.acknowledged && (
        <SmallButton aria-label={t.ackOf(name)} loading={ack.isPending} onClick={() => ack.mutate()}>
          {t.ack}
        </SmallButton>
      )}
      {!is.silenced && (
        <SmallButton aria-label={t.silenceOf(name)} onClick={() => onSilence(is)}>
          {t.silence}
        </SmallButton>
      )}
      <Refusal error={ack.error} />
    </div>
  )
}

/** Silences that hold now; nothing where there is none. */
const Silences = () => {
  const t = textsOf(alertsTexts)
  const { may } = useMay('write')
  const query = useQuery(silencesQuery)
  const end = useMutation({
    mutationFn: (id: number) => api.call('DELETE /alerts/silences/{id}', { params: { id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: alertsQuery.queryKey }),
  })
  const nameOf = (rule: string | null) => (rule === null ? t.everything : (valueAt(t.kinds, rule) ?? rule))
  if (!query.data || query.data.total === 0) return <Trouble what={t.what} query={query} />
  return (
    <Panel title={t.silences}>
      <Refusal error={end.error} />
      <ul className={styles.list}>
        {query.data.silences.map(({ id, rule, reason, ends_at, created_by }) => (
          <li key={id}>
            <div className={styles.words}>
              <strong>{nameOf(rule)}</strong>
              <span className={parts.muted}>
                <Stranger text={`${reason} (${created_by})`} most={300} /> · {t.until} <Time at={ends_at} />
              </span>
            </div>
            {may && (
              <SmallButton aria-label={t.endOf(nameOf(rule))} onClick={() => end.mutate(id)}>
                {t.end}
              </SmallButton>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  )
}
