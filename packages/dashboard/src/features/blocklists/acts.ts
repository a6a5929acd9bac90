import { api } from '../../api/client.ts'
import { toasts } from '../../kit/toasts.ts'
import { sentenceOf } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { blocklistsTexts } from './blocklists.texts.ts'
import { readBlocklistsAgain } from './queries.ts'
import type { Blocklist } from './queries.ts'

const failed = (error: unknown) => void toasts.show({ text: sentenceOf(error), error: true })

export const setMode = (list: Blocklist, mode: Blocklist['mode']): void => {
  api.call('PATCH /lists/{id}', { params: { id: list.id }, body: { mode } }).then(readBlocklistsAgain, failed)
}

export const refresh = (list: Blocklist, accept_change: boolean): Promise<void> =>
  api
    .call('POST /lists/{id}/refresh', { params: { id: list.id }, body: { accept_change } })
    .then(readBlocklistsAgain, failed)

const subscribeAgain = ({ name, source, format, column, interval, target, mode, ...bounds }: Blocklist) => {
  const { max_entries, max_addresses, max_networks, max_change, allow_wide, allow_private } = bounds
  return api.call('POST /lists', {
    body: {
      ...{ name, source, format, column, interval, target, mode, max_entries, max_addresses, max_change, allow_wide },
      ...(max_networks === null ? {} : { max_networks }),
      ...(allow_private ? { allow_private } : {}),
    },
  })
}

/** Unsubscribes at once, with an Undo that subscribes again. */
export const unsubscribe = (list: Blocklist): void => {
  api
    .call('DELETE /lists/{id}', { params: { id: list.id } })
    .then(() => {
      void readBlocklistsAgain()
      toasts.show({
        text: textsOf(blocklistsTexts).removed(list.name),
        // Of a URL that is not shown whole the rest is gone.
        ...(list.url_shortened ? {} : { undo: () => void subscribeAgain(list).then(readBlocklistsAgain, failed) }),
      })
    })
    .catch(failed)
}
