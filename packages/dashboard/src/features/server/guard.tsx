import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Server } from '../../api/queries.ts'
import { useKeptState } from '../../kit/draft.ts'
import { announce } from '../../kit/announce.tsx'
import { Dialogs } from '../../kit/dialogs.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { SmallButton } from '../../kit/small-button.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { Confirm } from '../identity/dialogs.ts'
import identity from '../identity/identity.module.css'
import { guardTexts } from './guard.texts.ts'

const forget = (serverId: string) => {
  void queries.invalidateQueries({ queryKey: ['server', serverId] })
  void queries.invalidateQueries({ queryKey: ['servers'] })
  void queries.invalidateQueries({ queryKey: ['bans'] })
}

/** What the host takes only with a signature, in a list of details; nothing where it asks for none. */
export const SealedFact = ({ sealed }: Pick<Server, 'sealed'>) => {
  const t = textsOf(guardTexts)
  if (!sealed) return null
  const names = sealed.operators.map(({ name }) => nameOf(name)).join(', ')
  return (
    <>
      <dt>{t.sealed}</dt>
      {sealed.error === null ? (
        <dd>
          <bdi>{t.sealedBy(clip(sealed.types.join(', '), 300).shown, names)}</bdi>
        </dd>
      ) : (
        <dd className={parts.error}>
          <bdi>{t.sealedError(clip(sealed.error).shown)}</bdi>
        </dd>
      )}
    </>
  )
}

/** Said on every page of a server that is in quarantine. */
export const Quarantined = ({ quarantined }: Pick<Server, 'quarantined'>) => {
  const t = textsOf(guardTexts)
  if (!quarantined) return null
  return (
    <p className={parts.warn}>
      <bdi>{t.since(nameOf(quarantined.by), clip(quarantined.reason).shown)}</bdi> · <Time at={quarantined.since} />{' '}
      {t.means}
    </p>
  )
}

/** Shown on every page of a server that two hosts report for. */
export const Cloned = ({ server, maySettle }: { server: Server; maySettle: boolean }) => {
  const t = textsOf(guardTexts)
  const settle = useMutation({
    mutationFn: () => api.call('DELETE /servers/{serverId}/clone', { params: { serverId: server.id } }),
    onSuccess: () => announce(t.settled),
    onSettled: () => forget(server.id),
  })
  if (!server.clone) return null
  return (
    <div className={parts.warn}>
      <p>
        {t.cloned(server.clone.ip ?? '')} · <Time at={server.clone.since} />
      </p>
      <Refusal error={settle.error} />
      {maySettle && (
        <Button variant="default" loading={settle.isPending} onClick={() => settle.mutate()}>
          {t.settle}
        </Button>
      )}
    </div>
  )
}

/** Puts a server into quarantine, with a reason; releases it, and forgets what it reported. */
export const Quarantine = ({ server }: { server: Server }) => {
  const t = textsOf(guardTexts)
  const params = { serverId: server.id }
  const release = useMutation({
    mutationFn: () => api.call('DELETE /servers/{serverId}/quarantine', { params }),
    onSuccess: () => announce(t.released),
    onSettled: () => forget(server.id),
  })
  return (
    <>
      <h3>{t.title}</h3>
      <p className={parts.help}>{t.text}</p>
      {server.quarantined ? (
        <>
          <Refusal error={release.error} />
          <div className={parts.row}>
            <Button variant="default" loading={release.isPending} onClick={() => release.mutate()}>
              {t.release}
            </Button>
          </div>
          <Forget server={server} />
        </>
      ) : (
        <Start serverId={server.id} />
      )}
    </>
  )
}

const Start = ({ serverId }: { serverId: string }) => {
  const t = textsOf(guardTexts)
  const [reason, setReason] = useKeptState(`quarantine ${serverId}/reason`, '')
  const [tried, setTried] = useState(false)
  const start = useMutation({
    mutationFn: () =>
      api.call('POST /servers/{serverId}/quarantine', { params: { serverId }, body: { reason: reason.trim() } }),
    onSuccess: () => announce(t.badge),
    onSettled: () => forget(serverId),
  })
  const submit = () => {
    setTried(true)
    if (reason.trim() && !start.isPending) start.mutate()
  }
  return (
    <PlainForm onSubmit={submit}>
      <TextField
        label={t.reason}
        error={tried && !reason.trim() ? t.reasonMissing : undefined}
        value={reason}
        onValue={setReason}
        most={500}
      />
      <Refusal error={start.error} />
      <div className={parts.row}>
        <Button type="submit" variant="default" loading={start.isPending}>
          {t.start}
        </Button>
      </div>
    </PlainForm>
  )
}

/** Deletes what it reported: open as a fold, and only with the server's name typed. */
const Forget = ({ server }: { server: Server }) => {
  const t = textsOf(guardTexts)
  const [since, setSince] = useState('')
  const [name, setName] = useState('')
  const at = Date.parse(since)
  const sure = !Number.isNaN(at) && name.trim() === server.hostname
  const run = useMutation({
    mutationFn: () =>
      api.call('POST /servers/{serverId}/forget-reports', {
        params: { serverId: server.id },
        body: { since: new Date(at).toISOString() },
      }),
    onSuccess: () => setName(''),
    onSettled: () => forget(server.id),
  })
  const submit = () => {
    if (sure && !run.isPending) run.mutate()
  }
  return (
    <details>
      <summary>{t.forget}</summary>
      <PlainForm onSubmit={submit}>
        <p>{t.forgetText}</p>
        <TextField label={t.forgetSince} type="datetime-local" value={since} onValue={setSince} />
        <TextField label={nameOf(server.hostname)} value={name} onValue={setName} />
        <Refusal error={run.error} />
        {run.data && <p role="status">{t.forgotten(run.data.forgotten)}</p>}
        <div className={parts.row}>
          <Button type="submit" variant="danger" disabled={!sure} loading={run.isPending}>
            {t.forgetVerb}
          </Button>
        </div>
      </PlainForm>
    </details>
  )
}

/** The keys that its agent has had and that still open something; each can be ended. */
export const AgentKeys = ({ server }: { server: Server }) => {
  const t = textsOf(guardTexts)
  const [ending, setEnding] = useState<NonNullable<Server['keys']>[number]>()
  const end = async (keyId: number) => {
    await api.call('DELETE /keys/{keyId}', { params: { keyId } })
    forget(server.id)
  }
  if (!server.keys || server.keys.length === 0) return null
  return (
    <>
      <h3>{t.keys}</h3>
      <ul className={identity.rows} aria-label={t.keys}>
        {server.keys.map(key => (
          <li key={key.id} className={identity.line}>
            <span>
              <span className={parts.mono}>{key.prefix}…</span>{' '}
              {key.last_used === null ? (
                t.never
              ) : (
                <>
                  {t.used} <Time at={key.last_used} />
                </>
              )}
            </span>
            <SmallButton aria-label={t.endKeyOf(key.prefix)} onClick={() => setEnding(key)}>
              {t.endKey}
            </SmallButton>
          </li>
        ))}
      </ul>
      {ending && (
        <Dialogs>
          <Confirm
            title={t.endKeyOf(ending.prefix)}
            text={t.endKeyText(ending.prefix)}
            verb={t.endKey}
            act={() => end(ending.id)}
            onClose={() => setEnding(undefined)}
          />
        </Dialogs>
      )}
    </>
  )
}
