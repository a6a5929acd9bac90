import { fieldProblem } from './trouble.tsx'

/**
 * What a field needs of what is typed: its value, how it changes, and what is wrong with it, said here or by the API. `named` is its
 * name in a refusal of the API, where that is another one.
 */
export const binding =
  <T extends object>(form: {
    typed: T
    set: (change: Partial<T>) => void
    said?: Partial<Record<keyof T, string | undefined>>
    error: unknown
  }) =>
  <K extends keyof T & string>(name: K, named: string = name) => ({
    value: form.typed[name],
    onValue: (value: T[K]) => {
      const change: Partial<T> = {}
      change[name] = value
      form.set(change)
    },
    error: form.said?.[name] ?? fieldProblem(form.error, named),
  })
