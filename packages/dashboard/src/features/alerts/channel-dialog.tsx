import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { valueAt } from '@stockade/contract/records.ts'
import { api } from '../../api/client.ts'
import { Loading } from '../../kit/loading.tsx'
import { useKeptState } from '../../kit/draft.ts'
import { Field } from '../../kit/field.tsx'
import { SecretInput, SelectField, TextField } from '../../kit/form-fields.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Check } from '../identity/choices.tsx'
import { DeliveryTest } from '../settings/delivery-test.tsx'
import { alertsTexts } from './alerts.texts.ts'
import { alertChannelsTexts } from './alert-channels.texts.ts'
import type { Channel } from './queries.ts'

type Preset = Reply<'GET /channels/presets'>['presets'][number]
interface Props {
  /** The channel to change; a new one unless given. */
  readonly is?: Channel
  readonly onClose: () => void
  readonly onSaved: () => Promise<unknown>
}

/** Adds a channel by a preset, or changes one. */
const ChannelDialog = (props: Props) => {
  const t = textsOf(alertChannelsTexts)
  const query = useQuery({
    queryKey: ['channels', 'presets'],
    queryFn: ({ signal }) => api.call('GET /channels/presets', { signal }),
    staleTime: Infinity,
  })
  return (
    <Dialog title={props.is ? t.editOf(props.is.name) : t.add} onClose={props.onClose}>
      <Loading what={t.what} query={query} lines={4} />
      {query.data && <ChannelForm {...props} presets={query.data.presets} />}
    </Dialog>
  )
}
export default ChannelDialog

const severities = ['critical', 'warning', 'info'] as const
type Severity = (typeof severities)[number]

const ChannelForm = ({ is, presets, onClose, onSaved }: Props & { presets: readonly Preset[] }) => {
  const t = textsOf(alertChannelsTexts)
  const draft = `channel ${is?.id ?? 'new'}`
  const [id, setId] = useKeptState<Preset['id']>(`${draft}/preset`, is && is.preset !== 'chat' ? is.preset : 'slack')
  const preset = presets.find(known => known.id === id)
  const [name, setName] = useKeptState(`${draft}/name`, is?.name ?? '')
  const [values, set] = useValues(draft, is?.fields ?? [])
  const [chosenSeverities, setSeverities] = useKeptState<readonly Severity[]>(`${draft}/severities`, [
    'critical',
    'warning',
  ])
  const save = useMutation({
    mutationFn: () => {
      // A secret that is left empty stays as it is.
      const fields = (preset?.fields ?? []).flatMap(field =>
        field.secret && !values[field.name] ? [] : [{ name: field.name, value: values[field.name] || null }],
      )
      if (is) return api.call('PATCH /channels/{id}', { params: { id: is.id }, body: { name: name.trim(), fields } })
      return api.call('POST /channels', {
        body: { name: name.trim(), preset: id, fields, severities: [...chosenSeverities] },
      })
    },
    onSuccess: () => {
      void onSaved()
      if (is) onClose()
    },
  })
  if (save.data && !is) return <FirstTest is={save.data} onClose={onClose} />
  return (
    <PlainForm
      onSubmit={() => {
        if (!save.isPending) save.mutate()
      }}
    >
      {!is && (
        <SelectField
          label={t.kind}
          value={id}
          onValue={setId}
          options={presets.map(one => ({ value: one.id, text: one.name }))}
        />
      )}
      <p className={parts.help}>{t.guides[id]}</p>
      <TextField label={t.name} most={100} value={name} onValue={setName} error={fieldProblem(save.error, 'name')} />
      {preset?.fields.map(field => (
        <Value
          key={`${id} ${field.name}`}
          field={field}
          isStored={is?.fields.some(known => known.name === field.name && known.set) ?? false}
          value={values[field.name] ?? ''}
          onValue={value => set(field, value)}
          error={fieldProblem(save.error, field.name)}
        />
      ))}
      {!is && <Severities value={chosenSeverities} onValue={setSeverities} />}
      <Refusal error={save.error} />
      <div className={parts.actions}>
        <Button type="submit" loading={save.isPending} disabled={name.trim() === ''}>
          {is ? t.save : t.add}
        </Button>
      </div>
    </PlainForm>
  )
}

const Severities = ({
  value,
  onValue,
}: {
  value: readonly Severity[]
  onValue: (value: readonly Severity[]) => void
}) => (
  <fieldset className={parts.group}>
    <legend>{textsOf(alertChannelsTexts).severities}</legend>
    {severities.map(severity => (
      <Check
        key={severity}
        label={textsOf(alertsTexts).severities[severity]}
        checked={value.includes(severity)}
        onChecked={isChecked =>
          onValue(severities.filter(each => (each === severity ? isChecked : value.includes(each))))
        }
      />
    ))}
  </fieldset>
)

/** The last step of adding one. */
const FirstTest = ({ is, onClose }: { is: Channel; onClose: () => void }) => {
  const t = textsOf(alertChannelsTexts)
  return (
    <>
      <p role="status">{t.tryIt}</p>
      <DeliveryTest
        channel={is.name}
        unsaved={false}
        send={() => api.call('POST /channels/{id}/test', { params: { id: is.id } })}
      />
      <div className={parts.actions}>
        <Button onClick={onClose}>{t.done}</Button>
      </div>
    </>
  )
}

/** What is typed by the name of the field. Secrets never reach the browser's storage. */
const useValues = (draft: string, stored: Channel['fields']) => {
  const [kept, setKept] = useKeptState<readonly (readonly [name: string, value: string])[]>(`${draft}/fields`, () =>
    stored.flatMap(({ name, value }) => (value === null ? [] : [[name, value] as const])),
  )
  const [secrets, setSecrets] = useState<Readonly<Record<string, string>>>({})
  const set = ({ name, secret }: Preset['fields'][number], value: string) => {
    if (secret) setSecrets({ ...secrets, [name]: value })
    else setKept([...kept.filter(([other]) => other !== name), [name, value]])
  }
  const values: Readonly<Record<string, string>> = { ...Object.fromEntries(kept), ...secrets }
  return [values, set] as const
}

const Value = (props: {
  field: Preset['fields'][number]
  isStored: boolean
  value: string
  onValue: (value: string) => void
  error: string | undefined
}) => {
  const t = textsOf(alertChannelsTexts)
  const { field, value, onValue, error } = props
  const label = valueAt(t.fields, field.name) ?? field.name
  const help = [
    field.secret && props.isStored ? t.kept : '',
    field.required ? '' : t.optional,
    t.example(field.default ?? field.example),
  ]
    .filter(Boolean)
    .join(' ')
  if (!field.secret)
    return (
      <TextField
        label={label}
        help={help}
        most={8000}
        dir="ltr"
        value={value}
        onValue={onValue}
        error={error}
        {...(field.multiline ? { rows: 4 } : {})}
      />
    )
  return (
    <Field label={label} help={help} error={error}>
      {ids => <SecretInput ids={ids} most={8000} value={value} onValue={onValue} />}
    </Field>
  )
}
