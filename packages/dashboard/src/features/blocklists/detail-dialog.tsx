import { useState } from 'react'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { OpenStates, ServerStates } from '../fleet/server-states.tsx'
import type { OpenState } from '../fleet/server-states.tsx'
import { CloseButton } from '../../kit/dialog-buttons.tsx'
import { Coverage } from '../../kit/coverage.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { refresh, setMode, unsubscribe } from './acts.ts'
import { blocklistsTexts } from './blocklists.texts.ts'
import { leftOutWords, serversOf } from './columns.tsx'
import { blocklistQuery, blocklistServersQuery } from './queries.ts'
import type { Blocklist } from './queries.ts'
import held from '../fleet/held.module.css'
import styles from './blocklists.module.css'

/** What a list holds, which servers do not hold it and why, and what can be done about it. */
const DetailDialog = (props: {
  given: Blocklist
  may: boolean
  onClose: () => void
  onChange: (list: Blocklist) => void
}) => {
  const { given, may, onClose, onChange } = props
  const t = textsOf(blocklistsTexts)
  const list = useQuery({ ...blocklistQuery(given.id), initialData: given }).data
  const all = serversOf(list)
  return (
    <Dialog title={list.name} onClose={onClose}>
      <div className={parts.form}>
        {list.source.url && <Stranger text={list.source.url} most={300} />}
        <div className={styles.preview}>
          <span>{t.covers(number(list.entries), number(list.addresses))}</span>
          <span>{t.hits(number(list.hits.last_day))}</span>
          <span className={parts.muted}>
            {t.columns.leftOut}: {leftOutWords(list.left_out)}
          </span>
        </div>
        {list.last_error !== null && (
          <p role="alert">
            <Mark tone="warn">{list.stale ? t.stale : t.failing}</Mark> <Stranger text={list.last_error} most={300} />
          </p>
        )}
        <p className={held.held} role="status">
          <Coverage
            held={list.held.applied}
            running={list.held.pending}
            failed={list.held.failed + list.held.not_covered}
          />
          {all > 0 && list.held.applied === all ? t.allHold : t.heldTitle(list.held.applied, all)}
        </p>
        <OpenStates counts={list.held}>{state => <Servers id={list.id} state={state} />}</OpenStates>
        {may && <Changes list={list} onClose={onClose} onChange={onChange} />}
        <div className={parts.row}>
          <CloseButton onClick={onClose} />
        </div>
      </div>
    </Dialog>
  )
}
export default DetailDialog

const Changes = (props: { list: Blocklist; onClose: () => void; onChange: (list: Blocklist) => void }) => {
  const { list, onClose, onChange } = props
  const t = textsOf(blocklistsTexts)
  const [isBusy, setBusy] = useState(false)
  const read = (accept: boolean) => {
    setBusy(true)
    void refresh(list, accept).finally(() => setBusy(false))
  }
  // The only refusals that `accept_change` gets past, as the API says in its sentences.
  const isRefused = /% of the entries|% are new/.test(list.last_error ?? '') && list.version > 0
  return (
    <div className={parts.row}>
      {(['enforce', 'observe', 'off'] as const)
        .filter(mode => mode !== list.mode)
        .map(mode => (
          <Button key={mode} variant={mode === 'enforce' ? 'filled' : 'default'} onClick={() => setMode(list, mode)}>
            {t[mode]}
          </Button>
        ))}
      <Button variant="default" loading={isBusy} onClick={() => read(false)}>
        {t.refresh}
      </Button>
      {isRefused && (
        <Button variant="default" loading={isBusy} onClick={() => read(true)}>
          {t.accept}
        </Button>
      )}
      <Button variant="default" onClick={() => onChange(list)}>
        {t.change}
      </Button>
      <Button
        variant="default"
        onClick={() => {
          onClose()
          unsubscribe(list)
        }}
      >
        {t.remove}
      </Button>
    </div>
  )
}

const Servers = ({ id, state }: { id: number; state: OpenState }) => {
  const t = textsOf(blocklistsTexts)
  const query = useQuery(blocklistServersQuery(id, state))
  return <ServerStates what={t.what} query={query} state={state} word={t.states[state]} more={t.more} />
}
