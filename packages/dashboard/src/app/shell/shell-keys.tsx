import { lazy, useMemo } from 'react'
import { useNavigate } from '@tanstack/react-router'
import { useMe } from '../../api/session.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { keyList, useKeys } from '../../kit/keys.ts'
import type { Key } from '../../kit/keys.ts'
import { keysTexts } from '../../kit/keys.texts.ts'
import { times } from '../../kit/time.tsx'
import { toasts } from '../../kit/toasts.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { groupsFor } from '../../features/navigation/places.ts'
import { shellTexts } from '../../features/navigation/shell.texts.ts'

const KeyList = lazy(() => import('./key-list.tsx'))

/** The search of the page, not the one of the whole dashboard. */
const search = () =>
  document.querySelector<HTMLInputElement>('main input[type=search]') ??
  document.querySelector<HTMLInputElement>('main [role=search] input')

/** The keys that work on every page, and the list of all. */
export const ShellKeys = () => {
  const navigate = useNavigate()
  const role = useMe()?.role
  const listed = keyList.use()
  const keys = useMemo((): readonly Key[] => {
    const t = textsOf(keysTexts)
    const names = textsOf(shellTexts)
    const ways = groupsFor(role).flatMap(({ items }) => items)
    return [
      { key: '?', text: t.list, act: () => keyList.set(true) },
      { key: '/', text: t.search, act: () => search()?.focus(), there: () => search() !== null },
      { key: 't', text: t.times, act: times.toggle },
      { key: 'z', text: t.undo, act: toasts.undoLast },
      ...ways.map(({ to, text, letter }) => ({
        key: `g${letter}`,
        text: names[text],
        act: () => void navigate({ to }),
      })),
    ]
  }, [role, navigate])
  useKeys(keys)
  return listed ? (
    <Dialogs>
      <KeyList />
    </Dialogs>
  ) : null
}
