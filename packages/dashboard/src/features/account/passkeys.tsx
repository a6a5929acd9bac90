import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { announce } from '../../kit/announce.tsx'
import { CopyField } from '../../kit/copy.tsx'
import { useKeptState } from '../../kit/draft.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { SmallButton } from '../../kit/small-button.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { AddPasskey } from '../identity/add-passkey.tsx'
import { Confirm } from '../identity/dialogs.ts'
import identity from '../identity/identity.module.css'
import { passkeysQuery } from '../identity/passkeys.ts'
import type { Passkey } from '../identity/passkeys.ts'
import { passkeysTexts } from '../identity/passkeys.texts.ts'

/** One's own passkeys: for signing in, and for signing commands. */
export const Passkeys = () => {
  const t = textsOf(passkeysTexts)
  const query = useQuery(passkeysQuery)
  const rows = query.data?.passkeys
  return (
    <Panel title={t.title}>
      <div className={parts.form}>
        <p className={parts.help}>{t.text}</p>
        <Trouble what={t.what} query={query} />
        {rows?.length === 0 && <p className={parts.muted}>{t.none}</p>}
        {rows && rows.length > 0 && (
          <ul className={identity.rows} aria-label={t.title}>
            {rows.map(passkey => (
              <Line key={passkey.id} passkey={passkey} />
            ))}
          </ul>
        )}
        <AddPasskey />
      </div>
    </Panel>
  )
}

const Line = ({ passkey }: { passkey: Passkey }) => {
  const t = textsOf(passkeysTexts)
  const { id, name } = passkey
  const [doing, setDoing] = useState<'rename' | 'remove' | null>(null)
  const remove = async () => {
    await api.call('DELETE /auth/passkeys/{passkeyId}', { params: { passkeyId: id } })
    announce(t.removed(name))
    await queries.invalidateQueries({ queryKey: passkeysQuery.queryKey })
  }
  return (
    <li className={identity.line}>
      <div>
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <div className={parts.facts}>
          <span>
            {t.created} <Time at={passkey.created_at} />
          </span>
          <span>
            {passkey.last_used === null ? (
              t.never
            ) : (
              <>
                {t.used} <Time at={passkey.last_used} />
              </>
            )}
          </span>
          {passkey.backed_up && <span>{t.copied}</span>}
        </div>
        {doing === 'rename' && <Rename passkey={passkey} onDone={() => setDoing(null)} />}
        <ForCommands passkey={passkey} />
      </div>
      <span className={parts.row}>
        <SmallButton aria-label={t.renameOf(name)} onClick={() => setDoing('rename')}>
          {t.rename}
        </SmallButton>
        <SmallButton aria-label={t.removeOf(name)} onClick={() => setDoing('remove')}>
          {t.remove}
        </SmallButton>
      </span>
      {doing === 'remove' && (
        <Dialogs>
          <Confirm
            title={t.removeTitle}
            text={<bdi>{t.removeText(name)}</bdi>}
            verb={t.remove}
            act={remove}
            onClose={() => setDoing(null)}
          />
        </Dialogs>
      )}
    </li>
  )
}

const Rename = ({ passkey, onDone }: { passkey: Passkey; onDone: () => void }) => {
  const t = textsOf(passkeysTexts)
  const [name, setName] = useKeptState(`passkey ${passkey.id}`, passkey.name)
  const rename = useMutation({
    mutationFn: () =>
      api.call('PATCH /auth/passkeys/{passkeyId}', { params: { passkeyId: passkey.id }, body: { name: name.trim() } }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: passkeysQuery.queryKey })
      onDone()
    },
  })
  const submit = () => {
    if (name.trim() && !rename.isPending) rename.mutate()
  }
  return (
    <PlainForm onSubmit={submit}>
      <TextField
        label={t.name}
        error={name.trim() ? undefined : t.nameMissing}
        value={name}
        onValue={setName}
        most={64}
      />
      <Refusal error={rename.error} />
      <div className={parts.row}>
        <Button type="submit" size="xs" loading={rename.isPending}>
          {t.save}
        </Button>
        <SmallButton onClick={onDone}>{textsOf(commonTexts).cancel}</SmallButton>
      </div>
    </PlainForm>
  )
}

/** How a host comes to trust it. The server could show another key here: what counts is the fingerprint, compared on the host. */
const ForCommands = ({ passkey }: { passkey: Passkey }) => {
  const t = textsOf(passkeysTexts)
  return (
    <details>
      <summary>{t.sign}</summary>
      <div className={parts.form}>
        <p>{t.signText}</p>
        <CopyField text={`sudo stockade-agent trust add ${passkey.operator_key}`} label={t.signCommand} />
        <p>{t.fingerprint}</p>
        <p className={parts.mono} dir="ltr" style={{ overflowWrap: 'anywhere' }}>
          {passkey.fingerprint}
        </p>
      </div>
    </details>
  )
}
