import { Suspense, useRef, useState } from 'react'
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { announce } from '../../kit/announce.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Trouble } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
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
import styles from './identity.module.css'

/** The keys of a user: what uses them, what they may do, until when. */
export const Keys = ({ userId, role, title }: { userId: number; role: Role; title?: string }) => {
  const t = textsOf(identityTexts).keys
  const keys = useQuery(keysQuery(userId))
  const narrow = useNarrow()
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<CreatedKey>()
  const [revoking, setRevoking] = useState<Key>()
  const opener = useRef<HTMLButtonElement>(null)
  const rows = keys.data?.keys
  const done = () => {
    setMade(undefined)
    setTimeout(() => opener.current?.focus())
  }
  const revoke = async (key: Key) => {
    await api.call('DELETE /keys/{keyId}', { params: { keyId: key.id } })
    announce(t.revoked(nameOf(key.name)))
    await queries.invalidateQueries({ queryKey: keysQuery(userId).queryKey })
  }
  const create = !making && !made && (
    <Button ref={opener} leftSection={<IconPlus size={16} />} onClick={() => setMaking(true)}>
      {t.create}
    </Button>
  )
  return (
    <Panel {...(title ? { title } : {})}>
      <div className={parts.form}>
        {rows && rows.length > 0 && create && <div className={parts.row}>{create}</div>}
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
        <Trouble what={t.what} query={keys} />
        {keys.isPending && <Waiting lines={2} />}
        {rows && <EndingSoon rows={rows} />}
        {rows?.length === 0 && !making && !made && (
          <div className={styles.block}>
            <p className={parts.muted}>{t.none}</p>
            {create}
          </div>
        )}
        {rows &&
          rows.length > 0 &&
          (narrow ? <KeyCards rows={rows} onRevoke={setRevoking} /> : <KeyTable rows={rows} onRevoke={setRevoking} />)}
      </div>
      {revoking && (
        <Suspense>
          <Confirm
            title={t.revokeTitle}
            text={t.revokeText(nameOf(revoking.name))}
            verb={t.revoke}
            act={() => revoke(revoking)}
            onClose={() => setRevoking(undefined)}
          />
        </Suspense>
      )}
    </Panel>
  )
}
