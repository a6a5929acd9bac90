import { useRef, useState } from 'react'
import { useMe } from '../api/session.ts'
import { readDraft, writeDraft } from '../lib/drafts.ts'

/** Whether two values of fields are the same. */
export const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
const keysOf = <T extends object>(of: Partial<T>) => Object.keys(of) as (keyof T & string)[]

interface Form<T> {
  /** The name of the form, and of the thing that it changes: drafts are kept by it. */
  readonly name: string
  /** Fields that must never reach the browser's storage, such as passwords and tokens. */
  readonly secrets?: readonly (keyof T & string)[]
}

/**
 * What is typed over the settings as they are. Only what was touched is kept, so settings that are read again meanwhile
 * show in all other fields and nothing that was typed is lost. It outlives the page: it is kept in the browser until it is
 * saved or discarded, or the user signs out.
 */
export const useDraft = <T extends object>(is: T, { name, secrets = [] }: Form<T>) => {
  const userId = useMe()?.id
  const [draft, setDraft] = useState(() =>
    userId === undefined ? { typed: {} as Partial<T>, was: {} as Partial<T> } : readDraft(userId, name, is, Date.now()),
  )
  /** What the next change is added to, also when several come before the next rendering. */
  const latest = useRef(draft)
  const { typed } = draft
  const [overtaken, setOvertaken] = useState<readonly (keyof T & string)[]>([])
  const changed = keysOf(typed).filter(key => !same(typed[key], is[key]))
  const keep = (next: { readonly typed: Partial<T>; readonly was: Partial<T> }) => {
    latest.current = next
    setDraft(next)
    if (userId === undefined) return
    const isEdit = keysOf(next.typed).some(key => !same(next.typed[key], is[key]))
    writeDraft(userId, name, is, isEdit ? next : { typed: {}, was: {} }, secrets, Date.now())
  }
  return {
    values: { ...is, ...typed } as T,
    changed: new Set<keyof T & string>(changed),
    /** What somebody else changed since it was touched here; known once a save was tried. */
    overtaken,
    set(change: Partial<T>) {
      const before = Object.fromEntries(keysOf(change).map(key => [key, is[key]])) as Partial<T>
      keep({ typed: { ...latest.current.typed, ...change }, was: { ...before, ...latest.current.was } })
    },
    /** Back to the saved values. */
    reset() {
      keep({ typed: {}, was: {} })
      setOvertaken([])
    },
    /** These fields are saved as they were sent. What was typed into them since then stays. */
    saved(sent: T, names: readonly (keyof T & string)[] = keysOf(latest.current.typed)) {
      const { typed, was } = latest.current
      const isDone = (key: keyof T & string) => names.includes(key) && same(typed[key], sent[key])
      const rest = keysOf(typed).filter(key => !isDone(key))
      keep({
        typed: Object.fromEntries(rest.map(key => [key, typed[key]])) as Partial<T>,
        was: Object.fromEntries(rest.map(key => [key, names.includes(key) ? sent[key] : was[key]])) as Partial<T>,
      })
      setOvertaken([])
    },
    /** Whether nobody else has changed the same fields since; a conflict is shown once, then it may be overwritten. */
    isCurrent(fresh: T): boolean {
      const { was } = latest.current
      const news = changed.filter(key => key in was && !same(was[key], fresh[key]) && !same(typed[key], fresh[key]))
      setOvertaken(news)
      keep({
        typed: latest.current.typed,
        was: { ...was, ...Object.fromEntries(changed.map(key => [key, fresh[key]])) } as Partial<T>,
      })
      return news.length === 0
    },
  }
}

/**
 * What is typed in a dialog. It survives a reload, an ended session and a closed tab, and is there when the dialog is opened
 * again; `forget` drops it, once it is saved or the dialog is closed by hand.
 */
export const useKept = <T extends object>(name: string, is: T) => {
  const { values, set, reset } = useDraft(is, { name })
  return { typed: values, set, forget: reset }
}
