import { useState } from 'react'

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
const keysOf = <T extends object>(of: Partial<T>) => Object.keys(of) as (keyof T & string)[]

/**
 * What is typed over the settings as they are. Only what was touched is kept, so settings that are read again meanwhile
 * show in all other fields and nothing that was typed is lost.
 */
export const useDraft = <T extends object>(is: T) => {
  const [typed, setTyped] = useState<Partial<T>>({})
  /** What stood there when the field was first touched. */
  const [was, setWas] = useState<Partial<T>>({})
  const [overtaken, setOvertaken] = useState<readonly (keyof T & string)[]>([])
  const changed = keysOf(typed).filter(key => !same(typed[key], is[key]))
  return {
    values: { ...is, ...typed } as T,
    changed: new Set<keyof T & string>(changed),
    /** What somebody else changed since it was touched here; known once a save was tried. */
    overtaken,
    set(change: Partial<T>) {
      const before = Object.fromEntries(keysOf(change).map(key => [key, is[key]])) as Partial<T>
      setTyped(now => ({ ...now, ...change }))
      setWas(now => ({ ...before, ...now }))
    },
    reset() {
      setTyped({})
      setWas({})
      setOvertaken([])
    },
    /** Whether nobody else changed the same since; if somebody did, that is told once, and then it may be saved over. */
    isCurrent(fresh: T): boolean {
      const news = changed.filter(key => key in was && !same(was[key], fresh[key]) && !same(typed[key], fresh[key]))
      setOvertaken(news)
      setWas(now => ({ ...now, ...Object.fromEntries(changed.map(key => [key, fresh[key]])) }))
      return news.length === 0
    },
  }
}
