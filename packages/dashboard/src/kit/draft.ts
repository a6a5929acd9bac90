import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useRouter } from '@tanstack/react-router'
import { keysOf, pick } from '@stockade/contract/records.ts'
import { useMe } from '../api/session.ts'
import { dropDrafts, readDraft, same, writeDraft } from '../lib/drafts.ts'
import type { KeptDraft } from '../lib/drafts.ts'

interface Form<T> {
  /** The name of the form, and of the thing that it changes: drafts are kept by it. */
  readonly name: string
  /** Fields that must never reach the browser's storage, such as passwords and tokens. */
  readonly secrets?: readonly (keyof T & string)[]
}

interface Draft<T> extends KeptDraft<T> {
  /** What the API has saved and the form has not read again yet: shown as typed, and no edit any more. */
  readonly accepted: Partial<T>
}

/** The fields that hold something else than what is saved. */
const editsOf = <T extends object>({ typed, accepted }: Draft<T>, is: T): readonly (keyof T & string)[] =>
  keysOf(typed).filter(key => !same(typed[key], is[key]) && !(key in accepted && same(typed[key], accepted[key])))

/**
 * What is typed over the settings as they are. Only what was touched is kept, so settings that are read again meanwhile
 * show in all other fields and nothing that was typed is lost. It outlives the page: it is kept in the browser until it is
 * saved or discarded, or the user signs out.
 */
export const useDraft = <T extends object>(is: T, { name, secrets = [] }: Form<T>) => {
  const userId = useMe()?.id
  const [draft, setDraft] = useState<Draft<T>>(() => ({
    ...(userId === undefined ? { typed: {}, was: {} } : readDraft(userId, name, is, Date.now())),
    accepted: {},
  }))
  /** What the next change is added to, also when several come before the next rendering. */
  const latest = useRef(draft)
  const { typed } = draft
  const [overtaken, setOvertaken] = useState<readonly (keyof T & string)[]>([])
  const changed = editsOf(draft, is)
  const keep = (next: Draft<T>) => {
    latest.current = next
    setDraft(next)
    if (userId === undefined) return
    const edits = editsOf(next, is)
    writeDraft(userId, name, is, { typed: pick(next.typed, edits), was: pick(next.was, edits) }, secrets, Date.now())
  }
  return {
    values: { ...is, ...typed },
    changed: new Set<keyof T & string>(changed),
    /** What somebody else changed since it was touched here; known once a save was tried. */
    overtaken,
    set(change: Partial<T>) {
      const before = pick(is, keysOf(change))
      const { typed, was, accepted } = latest.current
      keep({ typed: { ...typed, ...change }, was: { ...before, ...was }, accepted })
    },
    /** Back to the saved values. */
    reset() {
      keep({ typed: {}, was: {}, accepted: {} })
      setOvertaken([])
    },
    /** The API has saved these fields as they were sent: at this moment they stop to be a draft, and to be a change by somebody else. */
    accepted(sent: T, names: readonly (keyof T & string)[]) {
      const { typed, was, accepted } = latest.current
      const values = pick(sent, names)
      keep({ typed, was: { ...was, ...values }, accepted: { ...accepted, ...values } })
    },
    /** The form has read these fields again as they were sent. What was typed into them since then stays. */
    saved(sent: T, names: readonly (keyof T & string)[] = keysOf(latest.current.typed)) {
      const { typed, was } = latest.current
      const isDone = (key: keyof T & string) => names.includes(key) && same(typed[key], sent[key])
      const rest = keysOf(typed).filter(key => !isDone(key))
      const isSent = (key: keyof T & string) => names.includes(key)
      keep({ typed: pick(typed, rest), was: { ...pick(was, rest), ...pick(sent, rest.filter(isSent)) }, accepted: {} })
      setOvertaken([])
    },
    /** Whether nobody else has changed the same fields since; a conflict is shown once, then it may be overwritten. */
    isCurrent(fresh: T): boolean {
      const { typed, was, accepted } = latest.current
      const news = changed.filter(key => key in was && !same(was[key], fresh[key]) && !same(typed[key], fresh[key]))
      setOvertaken(news)
      keep({ typed, was: { ...was, ...pick(fresh, changed) }, accepted })
      return news.length === 0
    },
  }
}

/** By the name of the draft: to be forgotten, unless what holds it is there again at once. */
const leaving = new Map<string, ReturnType<typeof setTimeout>>()

/**
 * Forgets a draft when what holds it goes and the page stays: then it was closed by hand, or is done. A page that is left, by
 * Back or by an ended session, is another page by then. What stays open over a change of the page goes on with the new one.
 * A layout effect: it ends with its page, before the router says that the next one is there.
 */
const useForgottenAtEnd = (name: string) => {
  const userId = useMe()?.id
  const router = useRouter()
  useLayoutEffect(() => {
    clearTimeout(leaving.get(name))
    let { pathname } = globalThis.location
    const stop = router.subscribe('onResolved', () => ({ pathname } = globalThis.location))
    return () => {
      stop()
      if (userId === undefined || globalThis.location.pathname !== pathname) return
      leaving.set(
        name,
        setTimeout(() => dropDrafts(userId, name)),
      )
    }
  }, [name, userId, router])
}

/**
 * What is typed in a dialog. It survives a reload, an ended session and a closed tab, and is there when the dialog is opened
 * again. It is forgotten when the dialog is closed by hand, or shows what came of it.
 * @param secrets fields that never reach the browser's storage
 */
export const useKept = <T extends object>(name: string, is: T, secrets: readonly (keyof T & string)[] = []) => {
  const { values, set, reset } = useDraft(is, { name, secrets })
  useForgottenAtEnd(name)
  return { typed: values, set, reset }
}

/** Forgets what was typed in a dialog once it is done, while the dialog shows what came of it. */
export const useForgotten = (name: string, isDone: boolean) => {
  const userId = useMe()?.id
  useEffect(() => {
    if (isDone && userId !== undefined) dropDrafts(userId, name)
  }, [isDone, name, userId])
}

/** One value of a dialog that is kept like the others: in place of `useState`, under `dialog/field`. */
export const useKeptState = <V>(name: string, is: V | (() => V)) => {
  const [first] = useState(is)
  const { typed, set } = useKept<{ readonly value: V }>(name, { value: first })
  return [typed.value, (value: V) => set({ value })] as const
}
