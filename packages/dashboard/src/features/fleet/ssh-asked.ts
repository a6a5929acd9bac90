import { guardedAmong, guardedByTemplate } from '@stockade/contract/guards-ssh.ts'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import type { Command } from '../../api/queries.ts'
import { createQuestion } from '../../api/question.ts'
import { sentenceOf } from '../../kit/trouble.tsx'

/* A command that switches off a jail which guards SSH needs an answer first, also when it comes from a retry or an undo. */

interface Server {
  readonly id: string
  readonly hostname: string
}
/** What is about to be done on so many servers, and why that is asked about. */
export interface SshQuestion {
  readonly jail: string
  /** Whether it is taken off with its template, and not only switched off. */
  readonly removes: boolean
  /** The names of the servers where it guards SSH, or may. */
  readonly guarded: readonly string[]
  readonly total: number
  /** Why it is not known whether it guards SSH; null where it is. */
  readonly unknown: string | null
}
interface Told {
  readonly jails: Reply<'GET /servers/jails'>['jails']
  readonly unknown: string | null
}
/** What each host said last of its jail of that name; never throws: what can not be read is not known. */
export const toldOf = async (name: string): Promise<Told> => {
  try {
    return { jails: (await api.call('GET /servers/jails', { query: { name } })).jails, unknown: null }
  } catch (error) {
    return { jails: [], unknown: sentenceOf(error) }
  }
}
/** What has to be asked before a jail of these servers is switched off, or taken off with its template; null where nothing has. */
export const questionOf = (
  jail: string,
  removes: boolean,
  servers: readonly Server[],
  { jails, unknown }: Told,
): SshQuestion | null => {
  const guarded = (removes ? guardedByTemplate : guardedAmong)(jail, servers, jails)
  const hostnamesOf = (some: readonly Server[]) => some.map(({ hostname }) => hostname)
  const question = { jail, removes, total: servers.length }
  if (guarded.length > 0) return { ...question, guarded: hostnamesOf(guarded), unknown: null }
  return unknown === null ? null : { ...question, guarded: hostnamesOf(servers), unknown }
}

const question = createQuestion<SshQuestion, boolean>(false)
/** What waits for an answer, if anything does. */
export const useSshAsked = question.useAsked
/** A person who leaves the page has not agreed. */
export const refuseSsh = question.refuse

type Order = Pick<Command, 'type' | 'params'> & { readonly server: Server }
/** The jail that an order switches off or takes off, if it does. */
const lostBy = ({ type, params }: Order): unknown =>
  type === 'jail-disable' ? params.jail : type === 'remove-template' ? params.template_name : undefined
/** Whether these orders, all of one type, may be sent: asks about each jail among them that guards SSH and would be off then. */
export const agreed = async (orders: readonly Order[]): Promise<boolean> => {
  const removes = orders[0]?.type === 'remove-template'
  const byJail = new Map<string, Map<string, Server>>()
  for (const order of orders) {
    const jail = lostBy(order)
    if (typeof jail !== 'string') continue
    byJail.set(jail, (byJail.get(jail) ?? new Map<string, Server>()).set(order.server.id, order.server))
  }
  for (const [jail, servers] of byJail) {
    const nextQuestion = questionOf(jail, removes, [...servers.values()], await toldOf(jail))
    if (nextQuestion && !(await question.ask(nextQuestion))) return false
  }
  return true
}
