import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { serverQuery } from '../../api/queries.ts'
import type { Server } from '../../api/queries.ts'
import { CopyField } from '../../kit/copy.tsx'
import { useWords } from '../../kit/now.ts'
import { TimeSentence } from '../../kit/time.tsx'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { rotateKeyTexts } from './rotate-key.texts.ts'

/** A new key for the agent of a host, and the wait until the host has taken it over. */
export const RotateKey = ({ server }: { server: Server }) => {
  const t = textsOf(rotateKeyTexts)
  const [asked, setAsked] = useState(false)
  const renew = useMutation({
    mutationFn: async () => {
      const { install_command } = await api.call('POST /servers/{serverId}/regenerate-token', {
        params: { serverId: server.id },
      })
      return { command: install_command, before: server.key_rotated_at, at: Date.now() }
    },
  })
  const close = () => {
    renew.reset()
    setAsked(false)
  }
  return (
    <>
      <h3>{t.title}</h3>
      <p className={parts.help}>{t.text}</p>
      {renew.data ? (
        <Progress server={server} {...renew.data} onDone={close} />
      ) : asked ? (
        <div className={parts.row}>
          <Button loading={renew.isPending} onClick={() => renew.mutate()}>
            {t.create}
          </Button>
          <Button variant="default" onClick={close}>
            {t.cancel}
          </Button>
        </div>
      ) : (
        <Button variant="default" onClick={() => setAsked(true)}>
          {t.rotate}
        </Button>
      )}
      <Refusal error={renew.error} />
    </>
  )
}

/** After this time something may be wrong, because the command takes seconds. */
const long = 60_000

const Progress = (props: {
  server: Server
  command: string
  before: string | null
  at: number
  onDone: () => void
}) => {
  const t = textsOf(rotateKeyTexts)
  const { server, before, at } = props
  const name = nameOf(server.hostname)
  const isNew = (found: Server) => found.key_rotated_at !== null && found.key_rotated_at !== before
  const now = useQuery({
    ...serverQuery(server.id),
    refetchInterval: ({ state }) => (state.data && isNew(state.data) ? false : 2000),
  }).data
  const used = now !== undefined && now.install.token_used_at !== null
  const since = now && isNew(now) ? now.key_rotated_at : null
  const slow = useWords(time => time - at > long)
  if (since !== null)
    return (
      <>
        <p className={parts.note} role="status">
          <State is="done" /> <TimeSentence at={since} say={time => t.rotated(name, time)} />
        </p>
        <div className={parts.row}>
          <Button onClick={props.onDone}>{t.done}</Button>
        </div>
      </>
    )
  return (
    <>
      <p>{t.run(name)}</p>
      <CopyField text={props.command} label={t.command} />
      <div role="status">
        <p>
          <State is={used ? 'done' : 'waiting'} /> {used ? t.used : t.notUsed(name)}
        </p>
        <p>
          <State is={used ? 'waiting' : 'next'} /> {t.waiting(name)}
        </p>
        {slow && !used && <p className={parts.warn}>{t.slow}</p>}
      </div>
      <p className={parts.help}>{t.leave}</p>
    </>
  )
}
