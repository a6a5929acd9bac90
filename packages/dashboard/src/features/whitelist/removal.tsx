import { useState } from 'react'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import type { Entry } from '../fleet/queries.ts'
import { tellUnlisted } from '../fleet/undo.ts'
import { toasts } from '../../kit/toasts.ts'
import { sentenceOf } from '../../kit/trouble.tsx'
import { covers } from '../../lib/address.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Confirm } from '../identity/dialogs.ts'
import { whitelistTexts } from './whitelist.texts.ts'

const remove = async (entries: readonly Entry[], done: () => void) => {
  await api.call('POST /whitelist/remove', { body: { ids: entries.map(({ id }) => id) } })
  tellUnlisted(entries)
  done()
  for (const key of ['whitelist', 'lookup']) void queries.invalidateQueries({ queryKey: [key] })
}

interface Asked {
  readonly entries: readonly Entry[]
  readonly done: () => void
}
/** One address is taken off at once, with an Undo; what concerns more, or oneself, is asked about first. */
export const useRemoval = () => {
  const mine = useMe()?.ip_address ?? ''
  const [asked, setAsked] = useState<Asked | null>(null)
  return {
    asked,
    mine,
    close: () => setAsked(null),
    ask(entries: readonly Entry[], done: () => void = () => {}) {
      const [only] = entries
      if (entries.length !== 1 || !only || only.ip.includes('/') || covers(only.ip, mine))
        return setAsked({ entries, done })
      remove(entries, done).catch((error: unknown) => toasts.show({ text: sentenceOf(error), error: true }))
    },
  }
}

export const RemoveDialog = ({ removal }: { removal: ReturnType<typeof useRemoval> }) => {
  const t = textsOf(whitelistTexts)
  const { asked, mine, close } = removal
  if (!asked) return null
  const { entries, done } = asked
  return (
    <Confirm
      title={t.removeTitle}
      text={
        <>
          {entries.length === 1 ? t.removeText(entries[0]?.ip ?? '') : t.removeMany(entries.length)}
          {entries.some(({ ip }) => covers(ip, mine)) && <strong> {t.removeYou(mine)}</strong>}
        </>
      }
      verb={t.remove}
      onClose={close}
      act={() => remove(entries, done)}
    />
  )
}
