import { useState } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries, summaryQuery } from '../../api/queries.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { questionOf, toldOf } from '../fleet/ssh-asked.ts'
import type { SshQuestion } from '../fleet/ssh-asked.ts'
import { tellAsked, tellBanned, tellSwitchedMany } from '../fleet/undo.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { commandsTexts } from './commands.texts.ts'
import { paramsOf } from './run-form.ts'
import type { TypedCommand } from './run-form.ts'

interface Queued {
  readonly commands: readonly { readonly id: string; readonly server_id: string; readonly params_index: number }[]
  readonly batchId: string | undefined
}
const queue = async (typed: TypedCommand): Promise<Queued> => {
  const { type, servers } = typed
  const params = paramsOf(typed)
  const [only, other] = servers
  if (only !== undefined && other === undefined) {
    const { id } = await api.call('POST /servers/{serverId}/commands', {
      params: { serverId: only },
      body: { type, params },
    })
    return { commands: [{ id, server_id: only, params_index: 0 }], batchId: undefined }
  }
  const body = { server_ids: [...servers], type, params }
  const { batch_id, commands } = await api.call('POST /commands/batch', { body })
  return { commands, batchId: batch_id }
}

interface Named {
  readonly id: string
  readonly hostname: string
}
/** Shows the receipt of what was asked; an Undo where there is something to undo. */
const tell = (typed: TypedCommand, servers: readonly Named[], before: readonly string[], queued: Queued) => {
  const t = textsOf(commandsTexts)
  const { type, ip, jail } = typed
  const ids = queued.commands.map(({ id }) => id)
  const names = servers.map(({ hostname }) => hostname)
  if (type === 'ban-ip') return tellBanned(ip.trim(), names, ids, queued.batchId)
  if (type === 'jail-enable' || type === 'jail-disable') {
    const other = servers.filter(({ id }) => before.includes(id))
    return tellSwitchedMany(jail.trim(), servers, type === 'jail-enable', other, queued)
  }
  const [only = ''] = names
  const what = textsOf(fleetTexts).types[type]
  tellAsked(names.length === 1 ? t.askingOne(what, nameOf(only)) : t.asking(what, names.length), ids, queued.batchId)
}

/** Runs a command; before a jail that may guard SSH is switched off or removed, it asks. */
export const useRun = (typed: TypedCommand) => {
  const navigate = useNavigate()
  const [question, setQuestion] = useState<SshQuestion | null>(null)
  const all = useQuery(summaryQuery).data?.servers ?? []
  const chosenServers = [...typed.servers].map(id => ({
    id,
    hostname: all.find(server => server.id === id)?.hostname ?? id,
  }))
  const { type } = typed
  const removes = type === 'remove-template'
  const on = type === 'jail-enable'
  const run = useMutation({
    /** `before`: the servers where the jail is the other way, so that there is something to undo. */
    mutationFn: (_before: readonly string[]) => queue(typed),
    onSuccess: (queued, before) => {
      void queries.invalidateQueries({ queryKey: ['commands'] })
      tell(typed, chosenServers, before, queued)
      const [first] = queued.commands
      // One command has a page with its output; of a batch the receipt is shown here.
      if (queued.batchId === undefined && first)
        void navigate({ to: '/commands/$commandId', params: { commandId: first.id } })
    },
  })
  const look = useMutation({
    mutationFn: async () => {
      const name = removes ? typed.template : typed.jail.trim()
      const guardedServers = await toldOf(name)
      return {
        question: on ? null : questionOf(name, removes, chosenServers, guardedServers),
        before: guardedServers.jails.filter(({ enabled }) => enabled !== on).map(({ server }) => server.id),
      }
    },
    onSuccess: answer => {
      if (answer.question) setQuestion(answer.question)
      else run.mutate(answer.before)
    },
  })
  return {
    question,
    isPending: look.isPending || run.isPending,
    error: run.error,
    batchId: run.data?.batchId,
    start: () => (on || type === 'jail-disable' || removes ? look.mutate() : run.mutate([])),
    agree: () => run.mutate(look.data?.before ?? []),
    refuse() {
      run.reset()
      setQuestion(null)
    },
    offline: all.filter(({ id, status }) => typed.servers.has(id) && status !== 'online').length,
  }
}
