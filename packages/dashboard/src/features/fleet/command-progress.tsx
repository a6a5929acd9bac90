import { useEffect } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useLive } from '../../api/live.ts'
import { commandQuery, queries, summaryQuery } from '../../api/queries.ts'
import type { Command } from '../../api/queries.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { commandTexts } from '../../kit/command.texts.ts'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { nameOf } from '../../lib/clip.ts'

export const isOver = (command: Pick<Command, 'status'>): boolean =>
  command.status !== 'pending' && command.status !== 'running'

/** A command as it goes: live, or asked for every two seconds where the feed does not get through. */
export const useCommand = (commandId: string) => {
  const { phase } = useLive()
  const query = useQuery({
    ...commandQuery(commandId),
    enabled: commandId !== '',
    refetchInterval: ({ state }) => (state.data && isOver(state.data) ? false : phase === 'live' ? 10_000 : 2000),
  })
  const over = query.data ? isOver(query.data) : false
  useEffect(() => {
    if (!over || phase === 'live') return
    // Without the feed nothing else tells what the command changed.
    void queries.invalidateQueries({ queryKey: ['bans'] })
    void queries.invalidateQueries({ queryKey: ['ban'] })
  }, [over, phase])
  return query
}

/** Where the command is, in place: pending, running, done, or why not. */
export const CommandProgress = ({ commandId, done }: { commandId: string; done?: string }) => {
  const t = textsOf(commandTexts)
  const command = useCommand(commandId).data
  const server = useQuery(summaryQuery).data?.servers.find(({ id }) => id === command?.server.id)
  const cancel = useMutation({
    mutationFn: () => api.call('DELETE /commands/{commandId}', { params: { commandId } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['command', commandId] }),
  })
  if (!command) return <State is="pending" />
  const away = command.status === 'pending' && server !== undefined && server.status !== 'online'
  return (
    <span className={parts.progress} role="status">
      <State
        is={command.cancelled ? 'cancelled' : command.status}
        {...(command.status === 'completed' && done ? { word: done } : {})}
      />
      {away && (
        <>
          <span className={parts.help}>{t.away(nameOf(command.server.hostname))}</span>
          <SmallButton onClick={() => cancel.mutate()} loading={cancel.isPending}>
            {textsOf(commonTexts).cancel}
          </SmallButton>
        </>
      )}
      {command.status === 'timeout' && <span className={parts.help}>{t.timeout}</span>}
      {command.status === 'failed' && command.result?.output && (
        <span className={parts.help}>
          <Stranger text={command.result.output} most={160} />
        </span>
      )}
      <Refusal error={cancel.error} />
    </span>
  )
}
