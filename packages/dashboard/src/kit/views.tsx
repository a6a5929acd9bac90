import { useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { IconBookmark, IconX } from '@tabler/icons-react'
import { useRouterState } from '@tanstack/react-router'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import { bounds } from '../lib/preferences.ts'
import type { View } from '../lib/preferences.ts'
import { useKeptState } from './draft.ts'
import parts from './parts.module.css'
import { PathLink } from './path-link.tsx'
import { useViews } from './preferences.ts'
import { SmallButton } from './small-button.tsx'
import { toasts } from './toasts.ts'
import { viewsTexts } from './views.texts.ts'

/** Which page of the list it is does not make another view. */
const searchOf = (raw: string): string => {
  const search = new URLSearchParams(raw)
  search.delete('page')
  search.sort()
  return search.toString()
}
const isSame = (one: string, other: string) => searchOf(one) === searchOf(other)

/**
 * The views of a list that were saved under a name, and a way to save the one that is shown. `list` names the list in
 * the preferences; `path` is its page, such as `/servers`; `builtIn` come first and can't be changed.
 */
export const Views = (props: { list: string; path: string; builtIn?: readonly View[] }) => {
  const t = textsOf(viewsTexts)
  const { views, add } = useViews(props.list)
  const search = useRouterState({ select: ({ location }) => location.searchStr })
  const [open, setOpen] = useState<'save' | 'edit' | null>(null)
  const all = [...(props.builtIn ?? []), ...views]
  const canSave = searchOf(search) !== '' && !all.some(view => isSame(view.search, search))
  if (all.length === 0 && !canSave && open === null) return null
  if (open === 'edit') return <Edit list={props.list} onDone={() => setOpen(null)} />
  return (
    <nav className={parts.row} aria-label={t.label}>
      {all.map(({ name, search: kept }) => (
        <PathLink
          key={name}
          path={kept === '' ? props.path : `${props.path}?${kept}`}
          className={parts.chip}
          aria-current={isSame(kept, search) ? 'true' : undefined}
        >
          <bdi>{name}</bdi>
        </PathLink>
      ))}
      {open === 'save' ? (
        <Save
          list={props.list}
          onCancel={() => setOpen(null)}
          onSave={name => {
            add(name, searchOf(search))
            toasts.show({ text: t.saved(name) })
            setOpen(null)
          }}
        />
      ) : (
        canSave && (
          <button type="button" className={parts.chip} onClick={() => setOpen('save')}>
            <IconBookmark size={14} /> {t.save}
          </button>
        )
      )}
      {views.length > 0 && open === null && (
        <button type="button" className={parts.quiet} onClick={() => setOpen('edit')}>
          {t.edit}
        </button>
      )}
    </nav>
  )
}

const Save = (props: { list: string; onSave: (name: string) => void; onCancel: () => void }) => {
  const t = textsOf(viewsTexts)
  const { onSave, onCancel } = props
  const [name, setName] = useKeptState(`view of ${props.list}`, '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim()) onSave(name.trim())
  }
  return (
    <form className={parts.row} onSubmit={submit}>
      <input
        className={parts.input}
        style={{ inlineSize: 200 }}
        aria-label={t.name}
        placeholder={t.name}
        maxLength={bounds.viewName}
        autoFocus
        autoComplete="off"
        value={name}
        onChange={event => setName(event.currentTarget.value)}
      />
      <Button type="submit">{textsOf(commonTexts).save}</Button>
      <Button variant="default" onClick={onCancel}>
        {textsOf(commonTexts).cancel}
      </Button>
    </form>
  )
}

const Edit = ({ list, onDone }: { list: string; onDone: () => void }) => {
  const t = textsOf(viewsTexts)
  const { views, rename, remove, restore } = useViews(list)
  return (
    <div className={parts.form} role="group" aria-label={t.label}>
      {views.map(({ name, search }) => (
        <div key={search} className={parts.acts}>
          <input
            className={parts.input}
            style={{ inlineSize: 240 }}
            aria-label={t.nameOf(name)}
            maxLength={bounds.viewName}
            autoComplete="off"
            defaultValue={name}
            onBlur={event => {
              const to = event.currentTarget.value.trim()
              if (to && to !== name) rename(name, to)
              else event.currentTarget.value = name
            }}
          />
          <button
            type="button"
            className={parts.chip}
            aria-label={t.remove(name)}
            onClick={() => {
              remove(name)
              toasts.show({ text: t.removed(name), undo: () => restore(views) })
            }}
          >
            <IconX size={14} />
          </button>
        </div>
      ))}
      <div>
        <SmallButton onClick={onDone}>{t.done}</SmallButton>
      </div>
    </div>
  )
}
