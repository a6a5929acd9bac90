import { useSyncExternalStore } from 'react'
import { api } from '../api/client.ts'
import type { Command } from '../api/queries.ts'
import { guardedAmong, guardsSsh } from './guards-ssh.ts'

/* What switches off a jail that guards SSH is asked about first, wherever it comes from: a retry, an undo, a dialog. */

interface Server {
  readonly id: string
  readonly hostname: string
}
/** Those of the servers where the jail guards SSH, by what each host said of it last. */
export const guardedBy = async <S extends Server>(jail: string, servers: readonly S[]): Promise<readonly S[]> => {
  if (guardsSsh(jail)) return servers
  const { jails } = await api.call('GET /servers/jails', { query: { name: jail } })
  return guardedAmong(jail, servers, jails)
}

export interface SshAsked {
  readonly jail: string
  /** The names of the servers where it guards SSH. */
  readonly guarded: readonly string[]
  /** On how many it is about to be switched off. */
  readonly total: number
  readonly answer: (yes: boolean) => void
}
let asked: SshAsked | null = null
const watchers = new Set<() => void>()
const set = (next: SshAsked | null) => {
  asked = next
  for (const tell of watchers) tell()
}
const watch = (tell: () => void) => {
  watchers.add(tell)
  return () => watchers.delete(tell)
}
/** What waits for an answer, if anything does. */
export const useSshAsked = (): SshAsked | null => useSyncExternalStore(watch, () => asked)
/** Whoever leaves has not agreed. */
export const refuseSsh = (): void => asked?.answer(false)

const ask = (given: Omit<SshAsked, 'answer'>): Promise<boolean> => {
  refuseSsh()
  return new Promise(resolve => {
    set({
      ...given,
      answer: yes => {
        set(null)
        resolve(yes)
      },
    })
  })
}

type Order = Pick<Command, 'type' | 'params'> & { readonly server: Server }
/** Whether these orders may be sent: asks about each jail among them that guards SSH and would be switched off. */
export const agreed = async (orders: readonly Order[]): Promise<boolean> => {
  const byJail = new Map<string, Map<string, Server>>()
  for (const { type, params, server } of orders)
    if (type === 'jail-disable' && typeof params.jail === 'string')
      byJail.set(params.jail, (byJail.get(params.jail) ?? new Map<string, Server>()).set(server.id, server))
  for (const [jail, servers] of byJail) {
    const guarded = await guardedBy(jail, [...servers.values()])
    const question = { jail, guarded: guarded.map(({ hostname }) => hostname), total: servers.size }
    if (guarded.length > 0 && !(await ask(question))) return false
  }
  return true
}
