import { keysOf } from '@stockade/contract/records.ts'
import { clip } from '../lib/clip.ts'
import { textsOf } from '../lib/texts/catalogue.ts'
import { formTexts } from './form.texts.ts'

export type Name<T> = keyof T & string
/** A field in words: in its label, and in the list of changes. */
interface Words<V> {
  readonly label: string
  /** The part of the page that it belongs to, where two have fields of the same name. */
  readonly within?: string
  readonly say?: (value: V) => string
  /** For values that must not stay in the browser's storage but may be shown. */
  readonly isPrivate?: boolean
  /** For secrets, which the API never tells: whether one is set. */
  readonly isSet?: boolean
}
export type Fields<T> = { readonly [K in Name<T>]: string | Words<T[K]> }

export interface Change {
  readonly name: string
  readonly from: string
  readonly to: string
}

export const labelOf = <V>(words: string | Words<V>): string =>
  typeof words === 'string' ? words : [...(words.within ? [words.within] : []), words.label].join(', ')

export const secretsOf = <T>(fields: Fields<T>): readonly Name<T>[] =>
  keysOf(fields).filter(name => {
    const words = fields[name]
    return typeof words !== 'string' && (words.isSet !== undefined || words.isPrivate === true)
  })

/** A value as the list of changes says it: in one line, not longer than it can be read there. */
const sayPlain = (value: unknown): string => {
  const t = textsOf(formTexts)
  if (typeof value === 'boolean') return value ? t.on : t.off
  const text = Array.isArray(value)
    ? value.join(', ')
    : typeof value === 'string' || typeof value === 'number'
      ? `${value}`
      : ''
  return clip(text.trim().replaceAll(/\s*\n\s*/g, ', '), 120).shown || t.notSet
}

/** From what to what, one entry a field. */
export const changesOf = <T extends object>(
  fields: Fields<T>,
  is: T,
  values: T,
  changed: ReadonlySet<Name<T>>,
): readonly Change[] => {
  const t = textsOf(formTexts)
  return [...changed].map(name => {
    const words = fields[name]
    const { say = sayPlain, isSet } = typeof words === 'string' ? {} : words
    if (isSet === undefined) return { name: labelOf(words), from: say(is[name]), to: say(values[name]) }
    return { name: labelOf(words), from: isSet ? t.set : t.notSet, to: values[name] === null ? t.notSet : t.newSecret }
  })
}
