import { useRef, useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, statusOf } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { Picks } from '../fleet/picks.tsx'
import { checkQuery } from '../fleet/queries.ts'
import { Field } from '../../kit/field.tsx'
import type { FieldIds } from '../../kit/field.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, fieldProblem, sentenceOf } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { readRange } from '../../lib/address.ts'
import { clip } from '../../lib/clip.ts'
import { Choices } from '../identity/choices.tsx'
import { changesOf, conflictOf, draftOf, emptyDraft, portsByChance, portsOf, readDraft, slopeOf } from './draft.ts'
import type { Draft, Field as FieldName, Whole } from './draft.ts'
import { Order } from './facts.tsx'
import { portknockTexts } from './portknock.texts.ts'
import { sequencesQuery } from './queries.ts'
import type { Sequence } from './queries.ts'
import styles from './portknock.module.css'

interface Props {
  /** What the form begins with where nothing is edited. */
  readonly given?: Draft
  readonly sequence?: Sequence
  readonly onClose: () => void
  /** Told what became of it: that it is saved, then what is weak about it. */
  readonly onSaid: (sentences: readonly string[]) => void
}

const SequenceDialog = (props: Props) => {
  const t = textsOf(portknockTexts).form
  return (
    <Dialog title={props.sequence ? t.editTitle : t.addTitle} onClose={props.onClose}>
      <Form {...props} />
    </Dialog>
  )
}
export default SequenceDialog

const apiNames: Readonly<Record<FieldName, string>> = {
  name: 'name',
  port: 'protected_port',
  knocks: 'knock_ports',
  timeout: 'timeout',
  knockTimeout: 'knock_timeout',
  maxAttempts: 'max_attempts',
  block: 'block_duration',
  servers: 'server_ids',
}
const fieldNames = Object.keys(apiNames) as FieldName[]

/** Saves a new one, or what changed of an old one; resolves to what is weak about it. */
const save = async (sequence: Sequence | undefined, body: Whole): Promise<readonly string[]> => {
  if (!sequence) return (await api.call('POST /portknock/sequences', { body })).warnings
  const changes = changesOf(sequence, body)
  if (!changes) return []
  const params = { sequenceId: sequence.id }
  return (await api.call('PATCH /portknock/sequences/{sequenceId}', { params, body: changes })).warnings
}

const useSave = ({ sequence, onClose, onSaid }: Props) => {
  const t = textsOf(portknockTexts).form
  return useMutation({
    mutationFn: (body: Whole) => save(sequence, body),
    onSuccess: (warnings, { name, server_ids }) => {
      onSaid([sequence ? t.saved(name) : t.created(name, server_ids.length), ...warnings])
      void queries.invalidateQueries({ queryKey: ['portknock'] })
      onClose()
    },
    // What it is refused for may have been made by somebody else a moment ago.
    onError: error => {
      if (statusOf(error) === 409) void queries.invalidateQueries({ queryKey: sequencesQuery.queryKey })
    },
  })
}

const Form = (props: Props) => {
  const { sequence, given } = props
  const t = textsOf(portknockTexts).form
  const [draft, setDraft] = useState<Draft>(() => (sequence ? draftOf(sequence) : (given ?? emptyDraft())))
  const [tried, setTried] = useState(false)
  const summary = useRef<HTMLDivElement>(null)
  const saving = useSave(props)
  const others = (useQuery(sequencesQuery).data?.sequences ?? []).filter(({ id }) => id !== sequence?.id)
  const { body, problems } = readDraft(draft)
  const set = (change: Partial<Draft>) => setDraft(before => ({ ...before, ...change }))

  // What the server said stands only as long as that is what it was said of.
  const sent = saving.variables
  const refused = saving.error !== null && JSON.stringify(body) === JSON.stringify(sent) ? saving.error : null
  const inConflict = sent && statusOf(refused) === 409 ? conflictOf(sent, others, sentenceOf(refused)) : null
  const problemOf = (field: FieldName): string | undefined => {
    if (tried && problems[field]) return problems[field]
    return inConflict === field ? sentenceOf(refused) : refusalOf(refused, field)
  }
  const placed = fieldNames.some(field => problemOf(field) !== undefined)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (body === null) setTimeout(() => summary.current?.focus())
    else if (!saving.isPending) saving.mutate(body)
  }
  const text = (field: Exclude<FieldName, 'servers'>, ids: FieldIds, numeric = false) => ({
    ...ids,
    className: parts.input,
    autoComplete: 'off',
    autoCapitalize: 'none',
    spellCheck: false,
    maxLength: field === 'name' ? 200 : 100,
    ...(numeric ? { inputMode: 'numeric' as const, dir: 'ltr' } : {}),
    value: draft[field],
    onChange: (event: { currentTarget: HTMLInputElement }) => set({ [field]: event.currentTarget.value }),
  })
  const slope = slopeOf(portsOf(draft.knocks))
  return (
    <form className={parts.form} onSubmit={submit} noValidate>
      {tried && body === null && (
        <div ref={summary} tabIndex={-1} role="alert" className={parts.refusal}>
          {t.problems}{' '}
          {fieldNames
            .filter(field => problems[field])
            .map(field => t.fields[field])
            .join(', ')}
        </div>
      )}
      <Field label={t.name} help={t.nameHelp} error={problemOf('name')}>
        {ids => <input {...text('name', ids)} dir="auto" data-autofocus />}
      </Field>
      <Field label={t.port} help={t.portHelp} error={problemOf('port')}>
        {ids => <input {...text('port', ids, true)} />}
      </Field>
      <div className={parts.field}>
        <Field
          label={t.knocks}
          help={
            <>
              {t.knocksHelp}
              {portsOf(draft.knocks).length > 0 && (
                <span className={styles.preview}>
                  <Order ports={portsOf(draft.knocks).slice(0, 20)} label={textsOf(portknockTexts).sequences.order} />
                </span>
              )}
            </>
          }
          error={problemOf('knocks')}
        >
          {ids => <input {...text('knocks', ids)} dir="ltr" />}
        </Field>
        {slope && (
          <p className={parts.warn} role="status">
            {textsOf(portknockTexts).sequences[slope]}
          </p>
        )}
        <button
          type="button"
          className={parts.quiet}
          onClick={() => set({ knocks: portsByChance([Number(draft.port)]).join(' ') })}
        >
          {t.others}
        </button>
      </div>
      <Choices
        legend={t.protocol}
        options={(['tcp', 'udp'] as const).map(value => ({
          value,
          label: textsOf(portknockTexts).sequences.protocols[value],
          meaning: t.protocolHelp[value],
        }))}
        value={draft.protocol}
        onValue={protocol => set({ protocol })}
      />
      <div className={styles.pair}>
        <Field label={t.timeout} help={t.timeoutHelp} error={problemOf('timeout')}>
          {ids => <input {...text('timeout', ids)} dir="ltr" />}
        </Field>
        <Field label={t.knockTimeout} help={t.knockTimeoutHelp} error={problemOf('knockTimeout')}>
          {ids => <input {...text('knockTimeout', ids)} dir="ltr" />}
        </Field>
        <Field label={t.maxAttempts} help={t.maxAttemptsHelp} error={problemOf('maxAttempts')}>
          {ids => <input {...text('maxAttempts', ids, true)} />}
        </Field>
        <Field label={t.block} help={t.blockHelp} error={problemOf('block')}>
          {ids => <input {...text('block', ids)} dir="ltr" />}
        </Field>
      </div>
      <Picks
        legend={t.servers}
        away={t.away}
        chosen={draft.servers}
        onChosen={servers => set({ servers })}
        error={problemOf('servers')}
      />
      <div className={parts.field}>
        <p className={parts.note}>{sequence ? `${t.closes} ${t.change}` : t.closes}</p>
        <OwnWayIn />
      </div>
      {!placed && <Refusal error={refused} />}
      <div className={parts.row}>
        <Button type="submit" loading={saving.isPending}>
          {sequence ? t.save : t.create}
        </Button>
        <Button variant="default" onClick={props.onClose}>
          {textsOf(commonTexts).cancel}
        </Button>
      </div>
    </form>
  )
}

/** The message of a refusal that belongs to a field, or to one of the values in it. */
const refusalOf = (error: unknown, field: FieldName): string | undefined => {
  const name = apiNames[field]
  const within = Array.from({ length: 10 }, (_, index) => [`${name}.${index}`, `${name}/${index}`]).flat()
  return [name, ...within].map(path => fieldProblem(error, path)).find(message => message !== undefined)
}

/** Whether whoever closes the port stays let in. */
const OwnWayIn = () => {
  const t = textsOf(portknockTexts).form
  const mine = useMe()?.ip_address ?? ''
  const check = useQuery({ ...checkQuery(mine), enabled: readRange(mine) !== null }).data
  if (!check) return null
  return check.matched_entry ? (
    <p className={parts.help}>{t.listed(mine, clip(check.matched_entry.ip, 60).shown)}</p>
  ) : (
    <p className={parts.warn}>
      {t.notListed(mine)} <Link to="/whitelist">{t.toWhitelist}</Link>
    </p>
  )
}
