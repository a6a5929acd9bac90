import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import type { CommandRow } from '../fleet/queries.ts'
import { useSaid } from '../fleet/said.ts'
import { agreed } from '../fleet/ssh-asked.ts'
import { tellAsked } from '../fleet/undo.ts'
import { sentenceOf } from '../../kit/trouble.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { commandsTexts } from './commands.texts.ts'

export const canRetry = (row: CommandRow) => !row.cancelled && (row.status === 'failed' || row.status === 'timeout')

/** Queues a command again, and leads to the new one. */
export const useRetry = () => {
  const t = textsOf(commandsTexts)
  const outputWords = useSaid()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: async (row: CommandRow) =>
      (await agreed([row])) ? api.call('POST /commands/{commandId}/retry', { params: { commandId: row.id } }) : null,
    onSuccess: (queued, row) => {
      if (queued === null) return
      void queries.invalidateQueries({ queryKey: ['commands'] })
      tellAsked(t.askingOne(outputWords(row), nameOf(row.server.hostname)), [queued.id])
      void navigate({ to: '/commands/$commandId', params: { commandId: queued.id } })
    },
  })
}

/** Queues a command again that failed, or takes one back that waits; nothing for any other. */
export const RowAct = ({ row, short = false }: { row: CommandRow; short?: boolean }) => {
  const t = textsOf(commandsTexts)
  const { may } = useMay('write')
  const params = { commandId: row.id }
  const retry = useRetry()
  const cancel = useMutation({
    mutationFn: () => api.call('DELETE /commands/{commandId}', { params }),
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['commands'] })
      void queries.invalidateQueries({ queryKey: ['command', row.id] })
    },
  })
  if (!may) return null
  const error = retry.error ?? cancel.error
  const size = short ? 'xs' : 'sm'
  return (
    <>
      {canRetry(row) && (
        <Button
          size={size}
          variant="default"
          loading={retry.isPending}
          aria-label={t.retryShort(nameOf(row.server.hostname))}
          onClick={() => retry.mutate(row)}
        >
          {t.retry}
        </Button>
      )}
      {row.status === 'pending' && (
        <Button size={size} variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
          {t.cancel}
        </Button>
      )}
      {error && (
        <span className={parts.error} role="alert">
          {sentenceOf(error)}
        </span>
      )}
    </>
  )
}
