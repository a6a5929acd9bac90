import { lazy, useState } from 'react'
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import fleet from '../fleet/fleet.module.css'
import { CopyField } from '../../kit/copy.tsx'
import { Dialogs } from '../../kit/dialogs.tsx'
import { SelectField } from '../../kit/form-fields.tsx'
import { Pages } from '../../kit/pages.tsx'
import { PastEnd } from '../../kit/past-end.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { duration } from '../../lib/time.ts'
import { Approve } from '../commands/approve.tsx'
import { Confirm } from '../identity/dialogs.ts'
import { emptyDraft, portsByChance, slopeOf } from './draft.ts'
import type { Draft } from './draft.ts'
import { Order, ServerLink } from './facts.tsx'
import { KnockPage, pageOf } from './knock-page.tsx'
import { clientLine, hostFor, shellLine } from './lines.ts'
import { portknockTexts } from './portknock.texts.ts'
import { every10s, sequencesQuery } from './queries.ts'
import type { Place, Sequence } from './queries.ts'
import styles from './portknock.module.css'

const SequenceDialog = lazy(() => import('./sequence-dialog.tsx'))

type Asked =
  | { readonly what: 'add'; readonly given?: Draft }
  | { readonly what: 'edit' | 'delete'; readonly sequence: Sequence }

const limit = 20

/** What has to be knocked at for what, and whether the hosts have it in force. */
export const KnockSequences = () => {
  const t = textsOf(portknockTexts)
  const s = t.sequences
  const { may } = useMay('admin')
  const [asked, setAsked] = useState<Asked | null>(null)
  const [said, setSaid] = useState<readonly string[]>([])
  // A host confirms at any time.
  useQuery({ ...sequencesQuery, refetchInterval: every10s })
  const close = () => setAsked(null)
  const remove = async ({ id, name }: Sequence) => {
    await api.call('DELETE /portknock/sequences/{sequenceId}', { params: { sequenceId: id } })
    setSaid([s.deleted(name)])
    await queries.invalidateQueries({ queryKey: ['portknock'] })
  }
  return (
    <KnockPage
      tab="sequences"
      actions={
        may && (
          <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => setAsked({ what: 'add' })}>
            {s.add}
          </Button>
        )
      }
    >
      {sequences => (
        <>
          {sequences && <List sequences={sequences} said={said} onAsk={setAsked} />}
          <Dialogs>
            {asked?.what === 'add' && (
              <SequenceDialog {...(asked.given ? { given: asked.given } : {})} onClose={close} onSaid={setSaid} />
            )}
            {asked?.what === 'edit' && <SequenceDialog sequence={asked.sequence} onClose={close} onSaid={setSaid} />}
            {asked?.what === 'delete' && (
              <Confirm
                title={s.deleteTitle}
                text={s.deleteText(
                  clip(asked.sequence.name, 100).shown,
                  asked.sequence.protected_port,
                  asked.sequence.servers.length,
                )}
                verb={s.deleteNow}
                onClose={close}
                act={() => remove(asked.sequence)}
              />
            )}
          </Dialogs>
        </>
      )}
    </KnockPage>
  )
}

const List = (props: {
  sequences: readonly Sequence[]
  /** What came of the last change, in sentences. */
  said: readonly string[]
  onAsk: (asked: Asked) => void
}) => {
  const t = textsOf(portknockTexts)
  const { sequences, said, onAsk } = props
  const { page = 1 } = useSearch({ from: '/inside/portknock/sequences' })
  const navigate = useNavigate()
  const pageRows = pageOf(sequences, page, limit)
  return (
    <>
      <p className={parts.muted}>{t.sequences.lead}</p>
      <div role="status" className={styles.said}>
        {said.map((sentence, index) => (
          <p key={sentence} className={index === 0 ? parts.note : parts.warn}>
            {sentence}
          </p>
        ))}
      </div>
      {sequences.length === 0 && <Empty onAdd={given => onAsk({ what: 'add', given })} />}
      {sequences.length > 0 && pageRows.length === 0 && (
        <PastEnd onFirst={() => navigate({ to: '/portknock/sequences', search: {} })} />
      )}
      <ul className={fleet.stack} aria-label={t.tabs.sequences}>
        {pageRows.map(sequence => (
          <li key={sequence.id} data-sequence={sequence.id}>
            <Card sequence={sequence} onAsk={onAsk} />
          </li>
        ))}
      </ul>
      {sequences.length > limit && (
        <Pages
          page={page}
          limit={limit}
          shown={pageRows.length}
          total={sequences.length}
          onPage={to => navigate({ to: '/portknock/sequences', search: to > 1 ? { page: to } : {} })}
        />
      )}
    </>
  )
}

const Card = ({ sequence, onAsk }: { sequence: Sequence; onAsk: (asked: Asked) => void }) => {
  const t = textsOf(portknockTexts).sequences
  const { may } = useMay('admin')
  const name = clip(sequence.name, 100).shown
  const ports = sequence.knock_ports
  const slope = ports && slopeOf(ports)
  return (
    <section className={parts.panel} aria-label={name}>
      <div className={styles.head}>
        <h2 className={styles.name}>
          <bdi>{name}</bdi> <span className={parts.muted}>{t.protects(sequence.protected_port)}</span>
        </h2>
        {may && (
          <span className={parts.acts}>
            <SmallButton aria-label={t.editOf(name)} onClick={() => onAsk({ what: 'edit', sequence })}>
              {t.edit}
            </SmallButton>
            <SmallButton aria-label={t.deleteOf(name)} onClick={() => onAsk({ what: 'delete', sequence })}>
              {t.delete}
            </SmallButton>
          </span>
        )}
      </div>
      <div className={fleet.stack}>
        <div className={parts.row}>
          {ports ? <Order ports={ports} label={t.order} /> : <Mark tone="neutral">{t.hidden}</Mark>}
          <span className={parts.muted}>{t.protocols[sequence.protocol]}</span>
        </div>
        {!ports && <p className={parts.help}>{t.noNumbers}</p>}
        {slope && <p className={parts.warn}>{t[slope]}</p>}
        <dl className={styles.facts}>
          <div>
            <dt>{t.facts.timeout}</dt>
            <dd>{duration(sequence.timeout)}</dd>
          </div>
          <div>
            <dt>{t.facts.knock}</dt>
            <dd>{duration(sequence.knock_timeout)}</dd>
          </div>
          <div>
            <dt>{t.facts.attempts}</dt>
            <dd>{t.facts.attemptsValue(sequence.max_attempts, duration(sequence.block_duration))}</dd>
          </div>
        </dl>
        <Places places={sequence.servers} whole={ports !== null} />
        {ports && <How sequence={sequence} ports={ports} />}
      </div>
    </section>
  )
}

const urgency = { failed: 0, unsupported: 1, pending: 2, enforced: 3 } as const
const tones = { failed: 'danger', unsupported: 'warn', pending: 'neutral', enforced: 'ok' } as const
const first = 5

/**
 * Where it is in force, and where not and why: what needs somebody comes first. Reasons may name the ports, so who does not
 * see those (`whole` is false) does not see these.
 */
const Places = ({ places, whole }: { places: readonly Place[]; whole: boolean }) => {
  const t = textsOf(portknockTexts).sequences
  const [most, setMost] = useState(first)
  if (places.length === 0) return <p className={parts.muted}>{t.nowhere}</p>
  const sorted = [...places].sort((a, b) => urgency[a.state] - urgency[b.state])
  return (
    <div>
      <ul className={fleet.lines} aria-label={t.onServers}>
        {sorted.slice(0, most).map(({ id, hostname, state, error }) => (
          <li key={id} data-state={state}>
            <span>
              <ServerLink id={id} hostname={hostname} />
              {error && whole ? (
                <>
                  <p className={parts.error}>
                    <Stranger text={error} most={300} />
                  </p>
                  <Approve server={{ id, hostname }} error={error} />
                </>
              ) : (
                <p className={parts.help}>
                  {t.stateHelp[state]} {state === 'failed' && !whole && t.operatorsSeeWhy}
                </p>
              )}
            </span>
            <Mark tone={tones[state]}>{t.states[state]}</Mark>
          </li>
        ))}
      </ul>
      {sorted.length > most && (
        <button type="button" className={parts.quiet} onClick={() => setMost(most + 50)}>
          {t.moreServers(Math.min(50, sorted.length - most))} ({number(sorted.length)})
        </button>
      )}
    </div>
  )
}

const How = ({ sequence, ports }: { sequence: Sequence; ports: readonly number[] }) => {
  const t = textsOf(portknockTexts).sequences
  const [at, setAt] = useState('')
  const place = sequence.servers.find(({ id }) => id === at) ?? sequence.servers[0]
  const host = hostFor(place?.hostname)
  const knocks = { protocol: sequence.protocol, knock_ports: ports }
  return (
    <details>
      <summary className={parts.quiet}>{t.how}</summary>
      <div className={fleet.stack}>
        {sequence.servers.length > 1 && (
          <SelectField
            label={t.at}
            className={`${parts.input ?? ''} ${styles.short ?? ''}`}
            value={place?.id ?? ''}
            options={sequence.servers.slice(0, 200).map(({ id, hostname }) => ({ value: id, text: nameOf(hostname) }))}
            onValue={setAt}
          />
        )}
        <p className={parts.help}>{t.client}</p>
        <CopyField text={clientLine(knocks, host)} label={t.client} />
        <p className={parts.help}>{t.shell}</p>
        <CopyField text={shellLine(knocks, host)} label={t.shell} />
        <p className={parts.help}>
          {t.thenConnect} {host === 'HOST' && t.nameYours}
        </p>
      </div>
    </details>
  )
}

/** An example that is ready to be saved. Its ports are made by chance: a secret must not stand in a manual. */
const Empty = ({ onAdd }: { onAdd: (given: Draft) => void }) => {
  const t = textsOf(portknockTexts).sequences
  const { may } = useMay('admin')
  const [ports] = useState(() => portsByChance([22]))
  const example: Draft = { ...emptyDraft(), name: t.exampleName, port: '22', knocks: ports.join(' ') }
  return (
    <div className={parts.empty}>
      <h2 className={parts.panelTitle}>{t.emptyTitle}</h2>
      <p>{may ? t.empty : t.emptyForOthers}</p>
      {may && (
        <>
          <div className={parts.row} role="group" aria-label={t.example}>
            <strong>{t.exampleName}</strong>
            <span>{t.protects(22)}</span>
            <Order ports={ports} label={t.order} />
            <span className={parts.muted}>{t.protocols.tcp}</span>
          </div>
          <Button onClick={() => onAdd(example)}>{t.useExample}</Button>
        </>
      )}
    </div>
  )
}
