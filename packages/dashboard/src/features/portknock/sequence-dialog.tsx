import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, statusOf } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { Picks } from '../fleet/picks.tsx'
import { checkQuery } from '../fleet/queries.ts'
import { CancelButton } from '../../kit/dialog-buttons.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import { useForm } from '../../kit/form.ts'
import { Form, FormButtons } from '../../kit/form.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { sentenceOf } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { readRange } from '../../lib/address.ts'
import { clip } from '../../lib/clip.ts'
import { Choices } from '../identity/choices.tsx'
import { changesOf, conflictOf, draftOf, emptyDraft, portsByChance, portsOf, readDraft, slopeOf } from './draft.ts'
import type { Draft, Whole } from './draft.ts'
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
  /** Called with the outcome: that it is saved, then its weak points. */
  readonly onSaid: (sentences: readonly string[]) => void
}

const SequenceDialog = (props: Props) => {
  const t = textsOf(portknockTexts).form
  return (
    <Dialog title={props.sequence ? t.editTitle : t.addTitle} onClose={props.onClose}>
      <SequenceFields {...props} />
    </Dialog>
  )
}
export default SequenceDialog

/** How the API names each field. */
const apiNames: Readonly<Record<keyof Draft, string>> = {
  name: 'name',
  port: 'protected_port',
  knocks: 'knock_ports',
  protocol: 'protocol',
  timeout: 'timeout',
  knockTimeout: 'knock_timeout',
  maxAttempts: 'max_attempts',
  block: 'block_duration',
  servers: 'server_ids',
}

/** Saves a new one, or what changed of an old one; resolves to what is weak about it. */
const saveSequence = async (sequence: Sequence | undefined, body: Whole): Promise<readonly string[]> => {
  if (!sequence) return (await api.call('POST /portknock/sequences', { body })).warnings
  const changes = changesOf(sequence, body)
  if (!changes) return []
  const params = { sequenceId: sequence.id }
  return (await api.call('PATCH /portknock/sequences/{sequenceId}', { params, body: changes })).warnings
}

const useSequenceForm = ({ sequence, given, onClose, onSaid }: Props) => {
  const t = textsOf(portknockTexts).form
  // Made once: the ports of a new one are drawn by chance.
  const [begin] = useState<Draft>(() => (sequence ? draftOf(sequence) : (given ?? emptyDraft())))
  const others = (useQuery(sequencesQuery).data?.sequences ?? []).filter(({ id }) => id !== sequence?.id)
  return useForm<Draft>({
    name: `knock ${sequence?.id ?? (given ? 'example' : 'new')}`,
    is: begin,
    // The ports are a secret, so they do not stay in the browser.
    fields: { ...t.fields, protocol: t.protocol, knocks: { label: t.fields.knocks, isPrivate: true } },
    problems: draft => readDraft(draft).problems,
    late: true,
    always: true,
    saved: null,
    pathOf: name => apiNames[name],
    refusalOf: (name, error, sent) => {
      const { body } = readDraft(sent)
      if (statusOf(error) !== 409 || !body) return undefined
      return conflictOf(body, others, sentenceOf(error)) === name ? sentenceOf(error) : undefined
    },
    parts: [
      {
        send: async draft => {
          const { body } = readDraft(draft)
          if (!body) return
          const warnings = await saveSequence(sequence, body).finally(
            // Also after a refusal: somebody else may have made what it is refused for a moment ago.
            () => void queries.invalidateQueries({ queryKey: ['portknock'] }),
          )
          onSaid([sequence ? t.saved(body.name) : t.created(body.name, body.server_ids.length), ...warnings])
          onClose()
        },
      },
    ],
  })
}
type SequenceForm = ReturnType<typeof useSequenceForm>

const SequenceFields = (props: Props) => {
  const { sequence, onClose } = props
  const t = textsOf(portknockTexts).form
  const form = useSequenceForm(props)
  const { value: protocol, onValue: setProtocol } = form.bind('protocol')
  const { value: servers, onValue: setServers, error: serversError } = form.bind('servers')
  return (
    <Form form={form} bar={false}>
      <TextField {...form.bind('name')} label={t.name} help={t.nameHelp} most={200} focus />
      <TextField {...form.bind('port')} label={t.port} help={t.portHelp} most={100} kind="numeric" dir="ltr" />
      <Knocks form={form} />
      <Choices
        legend={t.protocol}
        options={(['tcp', 'udp'] as const).map(value => ({
          value,
          label: textsOf(portknockTexts).sequences.protocols[value],
          meaning: t.protocolHelp[value],
        }))}
        value={protocol}
        onValue={setProtocol}
      />
      <Limits form={form} />
      <Picks
        legend={t.servers}
        away={t.away}
        chosen={new Set(servers)}
        onChosen={chosen => setServers([...chosen].sort())}
        error={serversError}
      />
      <div className={parts.field}>
        <p className={parts.note}>{sequence ? `${t.closes} ${t.change}` : t.closes}</p>
        <OwnWayIn />
      </div>
      <FormButtons form={form} submit={sequence ? t.save : t.create}>
        <CancelButton onClick={onClose} />
      </FormButtons>
    </Form>
  )
}

/** The ports to knock at, in order; what a port scan would find is said at once. */
const Knocks = ({ form }: { form: SequenceForm }) => {
  const { form: t, sequences } = textsOf(portknockTexts)
  const { knocks, port } = form.values
  const ports = portsOf(knocks)
  const slope = slopeOf(ports)
  return (
    <div className={parts.field}>
      <TextField
        {...form.bind('knocks')}
        label={t.knocks}
        help={
          <>
            {t.knocksHelp}
            {ports.length > 0 && (
              <span className={styles.preview}>
                <Order ports={ports.slice(0, 20)} label={sequences.order} />
              </span>
            )}
          </>
        }
        most={100}
        dir="ltr"
      />
      {slope && (
        <p className={parts.warn} role="status">
          {sequences[slope]}
        </p>
      )}
      <button
        type="button"
        className={parts.quiet}
        onClick={() => form.set({ knocks: portsByChance([Number(port)]).join(' ') })}
      >
        {t.others}
      </button>
    </div>
  )
}

/** How long it stays open, how fast to knock, and when somebody is blocked. */
const Limits = ({ form }: { form: SequenceForm }) => {
  const t = textsOf(portknockTexts).form
  return (
    <div className={styles.pair}>
      <TextField {...form.bind('timeout')} label={t.timeout} help={t.timeoutHelp} most={100} dir="ltr" />
      <TextField {...form.bind('knockTimeout')} label={t.knockTimeout} help={t.knockTimeoutHelp} most={100} dir="ltr" />
      <TextField
        {...form.bind('maxAttempts')}
        label={t.maxAttempts}
        help={t.maxAttemptsHelp}
        most={100}
        kind="numeric"
        dir="ltr"
      />
      <TextField {...form.bind('block')} label={t.block} help={t.blockHelp} most={100} dir="ltr" />
    </div>
  )
}

/** Whether the user who closes the port keeps access. */
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
