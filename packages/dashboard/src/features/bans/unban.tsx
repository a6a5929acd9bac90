import { Button } from '@mantine/core'
import { isJailName } from '@stockade/contract/names.ts'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Ban as WholeBan } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { tellUnbanned } from '../fleet/undo.ts'
import { CommandProgress, isOver, useCommand } from '../fleet/command-progress.tsx'
import parts from '../../kit/parts.module.css'
import { sentenceOf } from '../../kit/trouble.tsx'
import { createShared } from '../../lib/shared.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { bansTexts } from './bans.texts.ts'
import { nameOf } from '../../lib/clip.ts'

/** The look-up of an address does not tell how long a ban was to last, only when it ends. */
type Ban = Pick<WholeBan, 'id' | 'ip' | 'jail' | 'server' | 'active' | 'expires_at'> &
  Partial<Pick<WholeBan, 'ban_duration'>>

/* Which command lifts which ban, for as long as the page is open: list and details show the same progress. */
const commands = createShared<ReadonlyMap<number, string>>(new Map())
const remember = (banId: number, commandId: string) => commands.set(new Map([...commands.get(), [banId, commandId]]))

/** Lifts one ban on one server, and shows in place how far that is. */
export const Unban = ({ ban, wide = false }: { ban: Ban; wide?: boolean }) => {
  const commandId = commands.use().get(ban.id)
  if (commandId !== undefined) return <Lifting ban={ban} commandId={commandId} wide={wide} />
  return ban.active ? <Lift ban={ban} wide={wide} /> : null
}

const Lift = ({ ban, wide, again = false }: { ban: Ban; wide: boolean; again?: boolean }) => {
  const t = textsOf(bansTexts)
  const { may, reason } = useMay('write')
  const unban = useMutation({
    mutationFn: () =>
      api.call('DELETE /servers/{serverId}/bans/{ip}', {
        params: { serverId: ban.server.id, ip: ban.ip },
        query: isJailName(ban.jail) ? { jail: ban.jail } : {},
      }),
    onSuccess: ({ command_id }) => {
      remember(ban.id, command_id)
      tellUnbanned(ban, command_id)
    },
  })
  const words = again ? t.tryAgain : t.unban
  if (!may) return wide && reason ? <p className={parts.help}>{reason}</p> : null
  return (
    <>
      <Button
        variant={wide ? 'filled' : 'default'}
        size={wide ? 'sm' : 'xs'}
        fullWidth={wide}
        loading={unban.isPending}
        onClick={() => unban.mutate()}
        data-key="u"
        {...(wide ? {} : { 'aria-label': t.unbanOf(ban.ip, ban.jail, nameOf(ban.server.hostname)) })}
      >
        {words}
      </Button>
      {unban.error && (
        <span className={parts.error} role="alert">
          {sentenceOf(unban.error)}
        </span>
      )}
    </>
  )
}

const Lifting = ({ ban, commandId, wide }: { ban: Ban; commandId: string; wide: boolean }) => {
  const command = useCommand(commandId).data
  // The row says Unbanned itself; what led there need not stay.
  if (!ban.active && command?.status === 'completed') return null
  return (
    <>
      <CommandProgress commandId={commandId} />
      {command && isOver(command) && command.status !== 'completed' && ban.active && (
        <Lift ban={ban} wide={wide} again />
      )}
    </>
  )
}
