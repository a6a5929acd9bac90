import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { meQuery, queries } from '../../api/queries.ts'
import fleet from '../fleet/fleet.module.css'
import { checkQuery } from '../fleet/queries.ts'
import { SelectField } from '../../kit/form-fields.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Mark } from '../../kit/state.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { usePhone } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { readRange } from '../../lib/address.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { duration } from '../../lib/time.ts'
import { Check } from '../identity/choices.tsx'
import { Left } from './facts.tsx'
import { keyO } from './key.ts'
import { portknockTexts } from './portknock.texts.ts'
import { openingsQuery } from './queries.ts'
import type { Place, Sequence } from './queries.ts'

interface Props {
  readonly sequences: readonly Sequence[]
  readonly onClose: () => void
}

/** Opens a port for the user's own address without a knock, and says whether the host has done it. */
const OpenForMe = (props: Props) => (
  <Dialog title={textsOf(portknockTexts).forMe.title} onClose={props.onClose}>
    <Form {...props} />
  </Dialog>
)
export default OpenForMe

/** The one that was chosen, else one where it makes sense. */
const placeOf = (sequence: Sequence | undefined, chosen: string): Place | undefined =>
  sequence?.servers.find(({ id }) => id === chosen) ??
  sequence?.servers.find(({ state }) => state === 'enforced') ??
  sequence?.servers[0]

interface Wanted {
  readonly sequence: Sequence
  readonly place: Place
}
const ask = async ({ sequence, place }: Wanted) => {
  const body = { server_id: place.id, sequence_name: sequence.name }
  const reply = await api.call('POST /portknock/knock', { body })
  return { ...reply, sequence_name: sequence.name, server: place, asked: Date.now() }
}
type Asked = Awaited<ReturnType<typeof ask>>

const Form = ({ sequences, onClose }: Props) => {
  const t = textsOf(portknockTexts)
  const f = t.forMe
  const placed = sequences.filter(({ servers }) => servers.length > 0)
  const [sequenceId, setSequenceId] = useState(placed[0]?.id)
  const [placeId, setPlaceId] = useState('')
  const sequence = placed.find(({ id }) => id === sequenceId) ?? placed[0]
  const place = placeOf(sequence, placeId)
  const open = useMutation({
    mutationFn: ask,
    onSuccess: () => queries.invalidateQueries({ queryKey: openingsQuery.queryKey }),
  })
  const submit = () => {
    if (sequence && place && !open.isPending) open.mutate({ sequence, place })
  }
  const choose = (change: () => void) => {
    open.reset()
    change()
  }
  return (
    <PlainForm onSubmit={submit}>
      <Mine />
      {placed.length === 0 && <p className={parts.note}>{f.noPlace}</p>}
      {sequence && place && (
        <>
          <SelectField
            label={t.sequence}
            help={f.opensFor(sequence.protected_port, duration(sequence.timeout))}
            focus
            value={sequence.id}
            options={placed.map(({ id, name }) => ({ value: id, text: clip(name, 60).shown }))}
            onValue={id => choose(() => setSequenceId(id))}
          />
          <SelectField
            label={t.server}
            help={f.states[place.state](nameOf(place.hostname))}
            value={place.id}
            options={sequence.servers.map(({ id, hostname }) => ({ value: id, text: nameOf(hostname) }))}
            onValue={id => choose(() => setPlaceId(id))}
          />
        </>
      )}
      {open.data && <Outcome asked={open.data} />}
      <Refusal error={open.error} />
      <div className={parts.row}>
        {sequence && (
          <Button type="submit" loading={open.isPending} variant={open.data ? 'default' : 'filled'}>
            {open.data ? f.again : f.submit}
          </Button>
        )}
        <Button variant={open.data ? 'filled' : 'default'} onClick={onClose}>
          {open.data ? f.done : textsOf(commonTexts).cancel}
        </Button>
      </div>
      {!usePhone() && <Key />}
    </PlainForm>
  )
}

/** Read again: a phone may have changed its network since the page was opened. */
const Mine = () => {
  const f = textsOf(portknockTexts).forMe
  const mine = useQuery({ ...meQuery, staleTime: 0 }).data?.ip_address ?? ''
  const entry = useQuery({ ...checkQuery(mine), enabled: readRange(mine) !== null }).data?.matched_entry
  return (
    <div className={fleet.stack}>
      <p>
        {f.address}: <strong className={parts.mono}>{mine}</strong>
      </p>
      <p className={parts.help}>{f.addressHelp}</p>
      {entry && <p className={parts.note}>{f.listed(clip(entry.ip, 60).shown)}</p>}
    </div>
  )
}

/** Where the opening is: what the answer said, then what the list says. */
const Outcome = ({ asked }: { asked: Asked }) => {
  const f = textsOf(portknockTexts).forMe
  const list = useQuery({
    ...openingsQuery,
    refetchInterval: ({ state }) => (state.data && isConfirmed(asked, state.data.openings) ? 10_000 : 2000),
  })
  const opening = list.data?.openings.find(found => isThat(asked, found))
  const isCurrent = list.data !== undefined && list.dataUpdatedAt > asked.asked && !list.isFetching
  const server = nameOf(asked.server.hostname)
  if (isCurrent && !opening)
    return (
      <p className={parts.warn} role="status">
        {f.ended}
      </p>
    )
  const confirmed = opening ? opening.confirmed : asked.confirmed
  return (
    <div className={fleet.stack} role="status">
      <Mark tone={confirmed ? 'ok' : 'info'}>{confirmed ? f.confirmed(server) : f.waiting(server)}</Mark>
      <p>
        {confirmed && f.isOpen(asked.protected_port, asked.ip)}{' '}
        <span aria-hidden="true">
          <Left until={opening?.expires_at ?? asked.expires_at} />
        </span>
      </p>
    </div>
  )
}
interface Named {
  readonly server: { readonly id: string }
  readonly sequence_name: string
  readonly ip: string
}
const isThat = (asked: Named, found: Named) =>
  found.server.id === asked.server.id && found.sequence_name === asked.sequence_name && found.ip === asked.ip
const isConfirmed = (asked: Named, found: readonly (Named & { readonly confirmed: boolean })[]) =>
  found.some(opening => isThat(asked, opening) && opening.confirmed)

const Key = () => {
  const f = textsOf(portknockTexts).forMe
  const [on, setOn] = useState(keyO.isOn)
  return (
    <Check
      label={f.key}
      meaning={f.keyHelp}
      checked={on}
      onChecked={checked => {
        keyO.turn(checked)
        setOn(checked)
      }}
    />
  )
}
