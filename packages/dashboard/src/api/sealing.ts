import { useSyncExternalStore } from 'react'
import type { ProblemBody } from '@stockade/contract'
import { proving } from './proof.ts'

/* Hosts that take commands only signed: whatever request is refused for that asks for a signature, and is sent as signed commands. */

export interface SealAsked {
  /** The hosts that want it, up to 100. */
  readonly servers: readonly string[]
  /** What was asked for: `/commands/batch` and its body. */
  readonly path: string
  readonly body: unknown
  /** The reply in place of the refusal; null where nothing was signed. */
  readonly answer: (reply: unknown) => void
}
let asked: SealAsked | null = null
const watchers = new Set<() => void>()
const set = (next: SealAsked | null) => {
  asked = next
  for (const tell of watchers) tell()
}
const watch = (tell: () => void) => {
  watchers.add(tell)
  return () => watchers.delete(tell)
}
/** What waits for a signature, if anything does. */
export const useSealAsked = (): SealAsked | null => useSyncExternalStore(watch, () => asked)
/** Closing the dialog signs nothing. */
export const refuseSeal = (): void => asked?.answer(null)

/** Commands are given within the shell only: what asks is there already, or on its way. */
const ask = (given: Omit<SealAsked, 'answer'>): Promise<unknown> => {
  refuseSeal()
  return new Promise(resolve => {
    set({
      ...given,
      answer: reply => {
        set(null)
        resolve(reply)
      },
    })
  })
}

const wantingIn = async (reply: Response): Promise<readonly string[] | null> => {
  if (reply.status !== 409) return null
  const body = (await reply
    .clone()
    .json()
    .catch(() => null)) as ProblemBody | null
  return body?.seal_required?.servers ?? null
}

/** Sends a request; where hosts want it signed and somebody signs, the reply is that of the signed commands. */
export const sealing: typeof fetch = async (input, init) => {
  const reply = await proving(input, init)
  const servers = await wantingIn(reply)
  if (!servers || typeof input !== 'string') return reply
  const body: unknown = typeof init?.body === 'string' ? JSON.parse(init.body) : null
  const signed = await ask({ servers, path: input.slice(input.indexOf('/api/v1/') + '/api/v1'.length), body })
  return signed === null
    ? reply
    : new Response(JSON.stringify(signed), { status: 201, headers: { 'content-type': 'application/json' } })
}
