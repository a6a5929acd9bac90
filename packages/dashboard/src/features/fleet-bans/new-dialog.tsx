import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ApiError, api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { TargetChoice, useTarget } from '../fleet/target-choice.tsx'
import type { TargetValue } from '../fleet/target-choice.tsx'
import { CancelButton } from '../../kit/dialog-buttons.tsx'
import { useKeptState } from '../../kit/draft.ts'
import { Coverage } from '../../kit/coverage.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { readRange } from '../../lib/address.ts'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { serversOf } from './columns.tsx'
import { readLength } from './duration.ts'
import { fleetBansTexts } from './fleet-bans.texts.ts'
import { fleetBanQuery } from './queries.ts'
import type { FleetBan } from './queries.ts'
import styles from './fleet-bans.module.css'

/** Bans an address or a range on all servers or on chosen ones, and follows it into their firewalls. */
const NewDialog = ({ given = '', onClose }: { given?: string; onClose: () => void }) => {
  const [made, setMade] = useState<FleetBan | null>(null)
  return (
    <Dialog title={textsOf(fleetBansTexts).dialog.title} onClose={onClose}>
      {made ? (
        <Followed ban={made} onClose={onClose} onAnother={() => setMade(null)} />
      ) : (
        <Form given={given} onMade={setMade} onClose={onClose} />
      )}
    </Dialog>
  )
}
export default NewDialog

/** A refusal that `force` gets past, as the API says in its sentence. */
const canForce = (error: unknown) =>
  error instanceof ApiError && error.status === 409 && error.message.includes('"force": true')
const withoutHint = (error: unknown) =>
  error instanceof ApiError && canForce(error)
    ? new ApiError(409, { ...error.body, message: error.message.replace(/\s*Send "force": true.*$/, '') }, null)
    : error

/** What is typed, and what the API takes of it. */
const useTyped = (given: string) => {
  const t = textsOf(fleetBansTexts).dialog
  const draft = `new fleet ban ${given}`
  const target = useTarget(draft)
  const [entry, setEntry] = useKeptState(`${draft}/entry`, given)
  const [time, setTime] = useKeptState(`${draft}/time`, '')
  const [reason, setReason] = useKeptState(`${draft}/reason`, '')
  const seconds = time.trim() ? readLength(time) : undefined
  return {
    ...{ entry, setEntry, target, time, setTime, reason, setReason },
    problems: {
      entry: readRange(entry) ? undefined : t.wrongEntry,
      target: target.problem,
      time: seconds === null ? t.wrongDuration : undefined,
    },
    body: {
      entry: entry.trim(),
      // Nothing is sent before something is chosen.
      target: target.input ?? {},
      ...(seconds === undefined || seconds === null ? {} : { duration: seconds }),
      ...(reason.trim() ? { reason: reason.trim() } : {}),
    },
  }
}

/** The button says how many servers it is about, where that is known. */
const submitText = ({ kind, servers }: TargetValue) => {
  const t = textsOf(fleetBansTexts).dialog
  return kind === 'all' ? t.submit : t.submitOn(kind === 'some' ? servers.size : 0)
}

const useBan = (typed: ReturnType<typeof useTyped>, onMade: (ban: FleetBan) => void) =>
  useMutation({
    mutationFn: (force: boolean) =>
      api.call('POST /fleet/bans', { body: { ...typed.body, ...(force ? { force } : {}) } }),
    onSuccess: made => {
      for (const key of ['fleet-bans', 'lookup']) void queries.invalidateQueries({ queryKey: [key] })
      onMade(made)
    },
  })

const Form = (props: { given: string; onMade: (ban: FleetBan) => void; onClose: () => void }) => {
  const t = textsOf(fleetBansTexts).dialog
  const typed = useTyped(props.given)
  const [isTried, setTried] = useState(false)
  const ban = useBan(typed, props.onMade)
  const visibleProblems = isTried ? typed.problems : { entry: undefined, target: undefined, time: undefined }
  const submit = () => {
    setTried(true)
    if (Object.values(typed.problems).every(problem => problem === undefined) && !ban.isPending) ban.mutate(false)
  }
  return (
    <PlainForm onSubmit={() => submit()}>
      <TextField
        label={t.entry}
        help={t.entryHelp}
        most={100}
        dir="ltr"
        focus
        value={typed.entry}
        onValue={typed.setEntry}
        error={visibleProblems.entry ?? fieldProblem(ban.error, 'entry')}
      />
      <Standing entry={typed.entry} />
      <TargetChoice target={typed.target} error={visibleProblems.target ?? fieldProblem(ban.error, 'target')} />
      <TextField
        label={t.duration}
        help={t.durationHelp}
        most={20}
        value={typed.time}
        onValue={typed.setTime}
        error={visibleProblems.time ?? fieldProblem(ban.error, 'duration')}
      />
      <TextField
        label={t.reason}
        help={t.reasonHelp}
        most={500}
        value={typed.reason}
        onValue={typed.setReason}
        error={fieldProblem(ban.error, 'reason')}
      />
      <Refusal error={withoutHint(ban.error)} />
      <div className={parts.row}>
        {canForce(ban.error) ? (
          <Button variant="danger" onClick={() => ban.mutate(true)} loading={ban.isPending}>
            {t.force}
          </Button>
        ) : (
          <Button type="submit" loading={ban.isPending}>
            {submitText(typed.target.value)}
          </Button>
        )}
        <CancelButton onClick={props.onClose} />
      </div>
    </PlainForm>
  )
}

/** How much of the entry is banned already: a range without attackers is a slip, or a precaution. */
const Standing = ({ entry }: { entry: string }) => {
  const t = textsOf(fleetBansTexts).dialog
  const ip = entry.trim()
  const total = useQuery({
    queryKey: ['bans', 'covered', ip],
    queryFn: ({ signal }) => api.call('GET /bans', { query: { ip, active: true, limit: 1 }, signal }),
    enabled: readRange(ip) !== null,
  }).data?.total
  return total === undefined ? null : (
    <p className={parts.help} role="status">
      {t.standing(number(total), total)}
    </p>
  )
}

/** From the click to the last firewall: the numbers follow the live feed. */
const Followed = (props: { ban: FleetBan; onClose: () => void; onAnother: () => void }) => {
  const t = textsOf(fleetBansTexts).dialog
  const ban = useQuery({ ...fleetBanQuery(props.ban.id), initialData: props.ban }).data
  const all = serversOf(ban)
  const { applied, pending, failed, not_covered: notCovered } = ban.state
  const states = textsOf(fleetBansTexts)
  return (
    <div className={parts.form}>
      <p>
        <bdi>{t.asked(ban.entry)}</bdi>
      </p>
      <p className={styles.asked} role="status">
        <Coverage held={applied} running={pending} failed={failed + notCovered} />
        {all === 0 ? t.noServers : applied === 0 && pending === all ? t.waiting : t.holds(applied, all)}{' '}
        {applied > 0 && pending > 0 && t.follow(pending)} {failed > 0 && states.failed(failed)}{' '}
        {notCovered > 0 && states.notCovered(notCovered)}
      </p>
      <div className={parts.row}>
        <Button onClick={props.onClose}>{t.done}</Button>
        <Button variant="default" onClick={props.onAnother}>
          {t.another}
        </Button>
      </div>
    </div>
  )
}
