import { useRef, useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Loading } from '../../kit/loading.tsx'
import { announce } from '../../kit/announce.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { useNarrow } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { Confirm } from './dialogs.ts'
import { identityTexts } from './identity.texts.ts'
import { EndingSoon, KeyCards, KeyTable } from './key-rows.tsx'
import { NewKey, ShownOnce } from './new-key.tsx'
import type { CreatedKey } from './new-key.tsx'
import { keysQuery } from './queries.ts'
import type { Key, Role } from './queries.ts'

/** The keys of a user: what uses them, what they may do, until when. */
export const Keys = ({ userId, role, title }: { userId: number; role: Role; title?: string }) => {
  const t = textsOf(identityTexts).keys
  const keys = useQuery(keysQuery(userId))
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<CreatedKey>()
  const [revoking, setRevoking] = useState<Key>()
  const opener = useRef<HTMLButtonElement>(null)
  const rows = keys.data?.keys
  const hasRows = rows !== undefined && rows.length > 0
  const done = () => {
    setMade(undefined)
    setTimeout(() => opener.current?.focus())
  }
  const create = !making && !made && (
    <Button ref={opener} leftSection={<IconPlus size={16} />} onClick={() => setMaking(true)}>
      {t.create}
    </Button>
  )
  return (
    <Panel {...(title ? { title } : {})}>
      <div className={parts.form}>
        {hasRows && create && <div className={parts.row}>{create}</div>}
        {making && (
          <NewKey
            userId={userId}
            role={role}
            onCreated={key => {
              setMaking(false)
              setMade(key)
            }}
            onClose={() => {
              setMaking(false)
              setTimeout(() => opener.current?.focus())
            }}
          />
        )}
        {made && <ShownOnce made={made} onDone={done} />}
        <Loading what={t.what} query={keys} lines={2} />
        {rows && <Found rows={rows} create={create} onRevoke={setRevoking} />}
      </div>
      {revoking && <Revoke userId={userId} of={revoking} onClose={() => setRevoking(undefined)} />}
    </Panel>
  )
}

const Found = (props: { rows: readonly Key[]; create: ReactNode; onRevoke: (key: Key) => void }) => {
  const { rows, create, onRevoke } = props
  const narrow = useNarrow()
  if (rows.length > 0)
    return (
      <>
        <EndingSoon rows={rows} />
        {narrow ? <KeyCards rows={rows} onRevoke={onRevoke} /> : <KeyTable rows={rows} onRevoke={onRevoke} />}
      </>
    )
  return create ? (
    <div className={parts.block}>
      <p className={parts.muted}>{textsOf(identityTexts).keys.none}</p>
      {create}
    </div>
  ) : null
}

const Revoke = ({ userId, of, onClose }: { userId: number; of: Key; onClose: () => void }) => {
  const t = textsOf(identityTexts).keys
  const name = nameOf(of.name)
  const revoke = async () => {
    await api.call('DELETE /keys/{keyId}', { params: { keyId: of.id } })
    announce(t.revoked(name))
    await queries.invalidateQueries({ queryKey: keysQuery(userId).queryKey })
  }
  return (
    <Dialogs>
      <Confirm title={t.revokeTitle} text={t.revokeText(name)} verb={t.revoke} act={revoke} onClose={onClose} />
    </Dialogs>
  )
}
