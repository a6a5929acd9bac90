import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { toasts } from '../../kit/toasts.ts'
import { sentenceOf } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import type { Rule } from './queries.ts'
import { rulesTexts } from './sharing-rules.texts.ts'

const failed = (error: unknown) => void toasts.show({ text: sentenceOf(error), error: true })
export const readAgain = () => {
  for (const key of ['rules', 'fleet-bans']) void queries.invalidateQueries({ queryKey: [key] })
}
const say = (text: string, undo?: () => void) => {
  readAgain()
  toasts.show({ text, ...(undo ? { undo } : {}) })
}

/** Simulates a rule that changed since its last simulation, and arms it. */
export const turnOn = ({ id, name, state }: Rule): Promise<void> => {
  const simulated =
    state === 'draft' ? api.call('POST /rules/{id}/simulate', { params: { id }, body: {} }) : Promise.resolve()
  return simulated
    .then(() => api.call('POST /rules/{id}/arm', { params: { id } }))
    .then(() => say(textsOf(rulesTexts).turnedOn(name)), failed)
}
export const turnOff = (rule: Rule): void => {
  api
    .call('POST /rules/{id}/disarm', { params: { id: rule.id }, body: {} })
    .then(after => say(textsOf(rulesTexts).turnedOff(rule.name), () => void turnOn(after)), failed)
}
export const liftAll = ({ id }: Rule): void => {
  api
    .call('POST /rules/{id}/disarm', { params: { id }, body: { lift: true } })
    .then(() => say(textsOf(rulesTexts).lifted), failed)
}
export const remove = ({ id, name }: Rule): void => {
  api.call('DELETE /rules/{id}', { params: { id } }).then(() => say(textsOf(rulesTexts).removed(name)), failed)
}
