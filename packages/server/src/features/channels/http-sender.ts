import { errorText } from '@stockade/contract/error-code.ts'
import { hour } from '../../core/clock.ts'
import { saidBy } from '../../core/text.ts'
import type { Outgoing, OutgoingReply } from '../../outgoing/outgoing.ts'
import type { Note } from '../../outgoing/steps.ts'
import { refusalIn } from './answers.ts'
import { DeliveryFailure, retryAfterOf } from './delivery.ts'
import { oneLine } from './message.ts'
import type { AnswerRule, Preset } from './presets/preset.ts'
import type { ChannelRequest, FieldValues } from './request.ts'

const timeout = 10_000

const fieldOf = (text: string, path: string): unknown => {
  try {
    let value: unknown = JSON.parse(text)
    for (const name of path.split('.')) {
      if (typeof value !== 'object' || value === null) return undefined
      value = Reflect.get(value, name)
    }
    return value
  } catch {
    return undefined
  }
}

const waitOf = ({ headers, text }: OutgoingReply, { wait }: AnswerRule, now: number): number | null => {
  const waitField = wait ? fieldOf(text, wait.path) : undefined
  const ms = typeof waitField === 'number' ? waitField * (wait?.unit === 'seconds' ? 1000 : 1) : 0
  return ms > 0 ? Math.min(ms, hour) : retryAfterOf(headers['retry-after'], now)
}

/** Everything that must not come back in what somebody else says: secrets, and addresses that hold them, also as they were encoded. */
const secretTexts = (preset: Preset, fields: FieldValues): string[] =>
  preset.fields.flatMap(({ name, secret, kind }) => {
    const value = fields[name]
    if (!secret || !value) return []
    if (kind !== 'url') return [value, encodeURIComponent(value)]
    const { pathname, search } = new URL(value)
    const parts = pathname.split('/').filter(part => part.length > 7)
    return [value, pathname + search, ...(pathname.length > 1 ? [pathname] : []), ...(search ? [search] : []), ...parts]
  })

/** Statuses that mean that this message will never be taken. */
const refusedContent = new Set([400, 413, 422])

/** Whether a message was taken; `isContent`: this one will never be. */
const judge = ({ status, text }: OutgoingReply, rule: AnswerRule): { isTaken: boolean; isContent: boolean } => {
  const isAccepted = rule.accepted ? rule.accepted.includes(status) : status >= 200 && status < 300
  const refusal = isAccepted && !rule.isFinal ? refusalIn(text) : null
  const isTaken =
    isAccepted && refusal === null && (!rule.field || fieldOf(text, rule.field.path) === rule.field.equals)
  return { isTaken, isContent: refusedContent.has(refusal?.status ?? status) }
}

/** Sends a request and reads its answer as the preset says. Answers the words for the log. @throws DeliveryFailure */
export const sendRequest = async (
  outgoing: Outgoing,
  preset: Preset,
  fields: FieldValues,
  request: ChannelRequest,
  now: number,
  note?: Note,
): Promise<string> => {
  const secrets = secretTexts(preset, fields)
  const rule = preset.answer ?? {}
  const reply = await outgoing
    .request(request.url, {
      method: request.method,
      headers: request.headers,
      body: request.body,
      timeout,
      ...(note ? { note: step => note({ ...step, detail: saidBy(step.detail, secrets) }) } : {}),
    })
    .catch((error: unknown) => {
      throw new DeliveryFailure('failure', saidBy(errorText(error), secrets))
    })
  const { status, text } = reply
  if (status >= 300 && status < 400) throw new DeliveryFailure('failure', `HTTP ${status}: redirects are not followed`)
  const words = saidBy(String((rule.words ? fieldOf(text, rule.words) : undefined) ?? text), secrets)
  const statusText = `HTTP ${status}${words ? `: ${oneLine(words, 250)}` : ''}`
  const { isTaken, isContent } = judge(reply, rule)
  if (isTaken) return `HTTP ${status}`
  throw new DeliveryFailure(isContent ? 'content' : 'failure', statusText, waitOf(reply, rule, now))
}
