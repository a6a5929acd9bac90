import { queryOptions } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { sentenceOf } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { passkeysTexts } from './passkeys.texts.ts'

/* Passkeys, as the browser has them. What speaks to it is loaded with the first use. */

type Options = Reply<'POST /auth/passkey/options'>['options']
export type Passkey = Reply<'GET /auth/passkeys'>['passkeys'][number]

export const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: ({ signal }) => api.call('GET /auth/passkeys', { signal }),
})

/** Whether this browser offers passkeys on this page at all. */
export const hasPasskeys = (): boolean => isSecureContext && 'PublicKeyCredential' in window

const calls = () => import('./passkey-calls.ts')
/** Lets a passkey of this device, or of another one at hand, answer. */
export const answerOf = async (options: Options) => (await calls()).get(options)
const created = async (options: Options) => (await calls()).create(options)

export const signInByPasskey = async (mfaToken?: string) => {
  const token = mfaToken === undefined ? {} : { mfa_token: mfaToken }
  const { options } = await api.call('POST /auth/passkey/options', { body: token })
  return api.call('POST /auth/passkey', { body: { response: await answerOf(options), ...token } })
}
export const proveByPasskey = async () => {
  const { options } = await api.call('POST /auth/step-up/options')
  return api.call('POST /auth/step-up', { body: { passkey: await answerOf(options) } })
}
export const addPasskey = async (name: string): Promise<Passkey> => {
  const { options } = await api.call('POST /auth/passkeys/options')
  const added = await api.call('POST /auth/passkeys', { body: { name, response: await created(options) } })
  await queries.invalidateQueries({ queryKey: passkeysQuery.queryKey })
  return added
}

/** What went wrong with a passkey, in words: the browser's own are for programmers. */
export const passkeySentence = (error: unknown): string => {
  const t = textsOf(passkeysTexts)
  if (!(error instanceof Error)) return sentenceOf(error)
  const { name, message } = error
  if (name === 'NotAllowedError' || name === 'AbortError') return t.notDone
  if (name === 'InvalidStateError') return t.known
  if (name === 'SecurityError') return t.elsewhere
  if (/^(?:NotSupported|Constraint|Data|Unknown|Operation)Error$/.test(name)) return t.failed(message)
  return sentenceOf(error)
}
