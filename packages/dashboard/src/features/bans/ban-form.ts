import { useState } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { readDuration } from '@stockade/contract/durations.ts'
import { ApiError, api } from '../../api/client.ts'
import { summaryQuery } from '../../api/queries.ts'
import { tellBanned } from '../fleet/undo.ts'
import { useForgotten, useKept } from '../../kit/draft.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { readRange } from '../../lib/address.ts'
import { banDialogTexts } from './ban-dialog.texts.ts'

/** Only what touches one's own, a server's or a loopback address can be forced; the API says so in its sentence. */
export const canForce = (error: unknown) =>
  error instanceof ApiError && error.status === 409 && error.message.includes('"force": true')
export const withoutHint = (error: unknown) => {
  if (!(error instanceof ApiError) || !canForce(error)) return error
  return new ApiError(409, { ...error.body, message: error.message.replace(/\s*Send "force": true.*$/, '') }, null)
}

export interface GivenBan {
  readonly server?: string | undefined
  readonly ip?: string | undefined
  readonly jail?: string | undefined
  /** Proposes all servers instead of asking for one. */
  readonly everywhere?: boolean
}
type Queued = { readonly count: number } & ({ readonly commandId: string } | { readonly batchId: string })
/** The jail that the agent keeps for bans from here, also in batches, which name none by themselves. */
const ownJail = 'stockade'
/** In place of a server's id. */
export const every = 'every'
export const several = 'several'

interface Typed {
  readonly ip: string
  /** A server's id, `every` or `several`; empty before one is chosen. */
  readonly where: string
  readonly picked: ReadonlySet<string>
  readonly jail: string
  readonly time: string
  readonly reason: string
  readonly cut: boolean
}

const none: ReadonlySet<string> = new Set()
/** What is typed, and the servers that it is about. */
const useTyped = (given: GivenBan) => {
  const servers = useQuery(summaryQuery).data?.servers ?? []
  const only = servers.length === 1 ? servers[0]?.id : undefined
  const { ip = '', jail: ofJail = '', server: on = given.everywhere ? every : '' } = given
  const draft = `ban ${ip} ${ofJail} ${on}`
  const { typed, set } = useKept<Typed>(draft, {
    ...{ ip, jail: ofJail, time: '', reason: '', cut: false },
    where: on,
    picked: none,
  })
  const where = only ?? typed.where
  const server = servers.find(({ id }) => id === where)
  const ids = where === every ? servers.map(({ id }) => id) : where === several ? [...typed.picked] : [where]
  const jail = typed.jail.trim()
  return {
    ...{ draft, servers, only, typed, set, where, server, ids },
    isMany: where === every || where === several,
    /** Only the shield of a host cuts connections, not the jails of fail2ban. */
    canCut: jail === '' || jail === ownJail,
    away: servers.filter(({ id, status }) => ids.includes(id) && status !== 'online').length,
  }
}

const problemsOf = ({ typed, ids }: ReturnType<typeof useTyped>) => {
  const t = textsOf(banDialogTexts)
  return {
    ip: readRange(typed.ip) ? undefined : t.wrongIp,
    server: ids.some(id => id !== '') ? undefined : t.noServer,
    time: typed.time.trim() && readDuration(typed.time) === null ? t.wrongDuration : undefined,
  }
}

interface Asked {
  readonly ip: string
  readonly jail?: string
  readonly duration?: number
  readonly reason?: string
  readonly force?: boolean
  readonly cut?: boolean
}
const askedOf = ({ typed, canCut }: ReturnType<typeof useTyped>, force: boolean): Asked => {
  const seconds = readDuration(typed.time)
  const [jail, reason] = [typed.jail.trim(), typed.reason.trim()]
  return {
    ip: typed.ip.trim(),
    ...(jail ? { jail } : {}),
    ...(seconds === null ? {} : { duration: seconds }),
    ...(reason ? { reason } : {}),
    ...(force ? { force } : {}),
    ...(typed.cut && canCut ? { cut: true } : {}),
  }
}

interface Target {
  readonly id: string
  readonly hostname: string
}
const queueOnOne = async (asked: Asked, { id, hostname }: Target): Promise<Queued> => {
  const { command_id } = await api.call('POST /servers/{serverId}/bans', { params: { serverId: id }, body: asked })
  tellBanned(asked.ip, [hostname], [command_id])
  return { commandId: command_id, count: 1 }
}
/** Asks all of them in one batch. */
export const queueOnMany = async (asked: Asked, targets: readonly Target[]): Promise<Queued> => {
  const { batch_id, commands } = await api.call('POST /commands/batch', {
    body: { server_ids: targets.map(({ id }) => id), type: 'ban-ip', params: { jail: ownJail, ...asked } },
  })
  tellBanned(
    asked.ip,
    targets.map(({ hostname }) => hostname),
    commands.map(({ id }) => id),
    batch_id,
  )
  return { batchId: batch_id, count: commands.length }
}

/** The form of a ban: what is typed, what is wrong with it, and the request. */
export const useBanForm = (given: GivenBan) => {
  const state = useTyped(given)
  const { servers, server, ids, where, isMany } = state
  const [isTried, setTried] = useState(false)
  const problems = problemsOf(state)
  const ban = useMutation({
    mutationFn: (force: boolean) =>
      isMany
        ? queueOnMany(
            askedOf(state, force),
            servers.filter(({ id }) => ids.includes(id)),
          )
        : queueOnOne(askedOf(state, force), { id: where, hostname: server?.hostname ?? '' }),
  })
  useForgotten(state.draft, ban.isSuccess)
  return {
    ...state,
    ban,
    /** What is said: nothing before a ban was tried. */
    said: isTried ? problems : { ip: undefined, server: undefined, time: undefined },
    submit() {
      setTried(true)
      if (Object.values(problems).every(problem => problem === undefined) && !ban.isPending) ban.mutate(false)
    },
  }
}
export type BanForm = ReturnType<typeof useBanForm>
