import { useState } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { summaryQuery } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { useTarget } from '../fleet/target-choice.tsx'
import { tellBanned } from '../fleet/undo.ts'
import { useForgotten, useKept } from '../../kit/draft.ts'
import { longestFleetBan, typedDuration } from '../../kit/duration-field.tsx'
import { durationTexts } from '../../kit/duration.texts.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { readRange } from '../../lib/address.ts'
import { banDialogTexts } from './ban-dialog.texts.ts'
import { banOnFleet } from './ban-on-fleet.ts'

/** What is proposed: a ban on one server where one is named, else on all servers, also on later ones. */
export interface BanProposal {
  readonly server?: string | undefined
  readonly ip?: string | undefined
  readonly jail?: string | undefined
}
/** What was asked for: one fleet ban, or a command for each of the chosen servers. */
export type BanRequest =
  | { readonly fleetBanId: number }
  | { readonly commandId: string; readonly count: number }
  | { readonly batchId: string; readonly count: number }

/** The jail that the agent keeps for bans from here. A ban in it, and a fleet ban, lasts a day unless told otherwise. */
const ownJail = 'stockade'
const usualLength = 86_400

interface Typed {
  readonly ip: string
  readonly jail: string
  readonly time: string
  readonly reason: string
  readonly cut: boolean
}

/** The named server; without one all servers, also later ones. Who has access to some servers is offered all of these. */
const useProposedTarget = (servers: readonly { readonly id: string }[], server: string | undefined) => {
  const isRestricted = useMe()?.server_access === 'specific'
  if (server !== undefined) return { server_ids: [server] }
  return isRestricted ? { server_ids: servers.map(({ id }) => id) } : undefined
}

/** What is typed, and the servers that it is about. */
const useTyped = ({ ip = '', jail: proposedJail = '', server }: BanProposal) => {
  const servers = useQuery(summaryQuery).data?.servers ?? []
  const draft = `ban ${ip} ${proposedJail} ${server ?? ''}`
  const { typed, set } = useKept<Typed>(draft, { ip, jail: proposedJail, time: '', reason: '', cut: false })
  const target = useTarget(draft, useProposedTarget(servers, server))
  const isFleetBan = target.value.kind !== 'some'
  const jail = isFleetBan ? '' : typed.jail.trim()
  const isOwnJail = jail === '' || jail === ownJail
  return {
    ...{ draft, servers, typed, set, target, isFleetBan, jail },
    /** The servers that get a command each; none for a fleet ban, which servers hold by themselves. */
    chosenServers: isFleetBan ? [] : servers.filter(({ id }) => target.value.servers.has(id)),
    usual: isOwnJail ? usualLength : undefined,
    /** Only the shield of a host cuts connections, not the jails of fail2ban. A fleet ban is a state, which cuts nothing. */
    canCut: !isFleetBan && isOwnJail,
    seconds: typedDuration(typed.time, isFleetBan ? longestFleetBan : undefined),
  }
}
type BanState = ReturnType<typeof useTyped>

const problemsOf = ({ typed, target, seconds }: BanState) => ({
  ip: readRange(typed.ip) ? undefined : textsOf(banDialogTexts).wrongIp,
  target: target.problem,
  time: seconds === null ? textsOf(durationTexts).wrong : undefined,
})

const optionsOf = (state: BanState, force: boolean) => ({
  ...(typeof state.seconds === 'number' ? { duration: state.seconds } : {}),
  ...(state.typed.reason.trim() ? { reason: state.typed.reason.trim() } : {}),
  ...(force ? { force } : {}),
})

/** A command for each of the chosen servers. */
const banOnServers = async (state: BanState, force: boolean): Promise<BanRequest> => {
  const { chosenServers, jail, typed, canCut } = state
  const ip = typed.ip.trim()
  const body = {
    ip,
    ...(jail ? { jail } : {}),
    ...optionsOf(state, force),
    ...(typed.cut && canCut ? { cut: true } : {}),
  }
  const names = chosenServers.map(({ hostname }) => hostname)
  const [first, other] = chosenServers
  if (first && !other) {
    const { command_id: id } = await api.call('POST /servers/{serverId}/bans', { params: { serverId: first.id }, body })
    tellBanned(ip, names, [id])
    return { commandId: id, count: 1 }
  }
  const { batch_id: batchId, commands } = await api.call('POST /commands/batch', {
    // A batch names its jail.
    body: { server_ids: chosenServers.map(({ id }) => id), type: 'ban-ip', params: { jail: ownJail, ...body } },
  })
  tellBanned(
    ip,
    names,
    commands.map(({ id }) => id),
    batchId,
  )
  return { batchId, count: commands.length }
}

/** The form of a ban: what is typed, what is wrong with it, and the request. */
export const useBanForm = (proposal: BanProposal) => {
  const state = useTyped(proposal)
  const [isTried, setTried] = useState(false)
  const problems = problemsOf(state)
  const ban = useMutation({
    mutationFn: (force: boolean): Promise<BanRequest> =>
      state.isFleetBan
        ? // Nothing is sent before something is chosen.
          banOnFleet({
            entry: state.typed.ip.trim(),
            target: state.target.input ?? {},
            ...optionsOf(state, force),
          }).then(({ id }) => ({ fleetBanId: id }))
        : banOnServers(state, force),
  })
  useForgotten(state.draft, ban.isSuccess)
  return {
    ...state,
    ban,
    /** Nothing before a ban was tried. */
    visibleProblems: isTried ? problems : { ip: undefined, target: undefined, time: undefined },
    submit() {
      setTried(true)
      if (Object.values(problems).every(problem => problem === undefined) && !ban.isPending) ban.mutate(false)
    },
  }
}
export type BanForm = ReturnType<typeof useBanForm>
