import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { toasts } from '../../kit/toasts.ts'
import { sentenceOf } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { fleetBansTexts } from './fleet-bans.texts.ts'
import type { FleetBan } from '../fleet/fleet-bans.ts'

const readAgain = () => {
  for (const key of ['fleet-bans', 'lookup']) void queries.invalidateQueries({ queryKey: [key] })
}
const failed = (error: unknown) => void toasts.show({ text: sentenceOf(error), error: true })

const banAgain = ({ entry, reason, target, expires_at }: FleetBan) =>
  api.call('POST /fleet/bans', {
    // `force`: it stood a moment ago, so what it touches was agreed to.
    body: { entry, target, expires_at, force: true, ...(reason ? { reason } : {}) },
  })

/** Lifts it at once, with an Undo that makes the same ban again. */
export const lift = (ban: FleetBan): void => {
  api
    .call('DELETE /fleet/bans/{id}', { params: { id: ban.id } })
    .then(() => {
      readAgain()
      toasts.show({
        text: textsOf(fleetBansTexts).lifted(ban.entry),
        undo: () => void banAgain(ban).then(readAgain, failed),
      })
    })
    .catch(failed)
}
