import { queryBounds, scanQuery } from '@stockade/contract/query/index.ts'
import type { QueryField, QueryLanguage, QueryPlace } from '@stockade/contract/query/index.ts'

/** What is being typed at a place, and what of the text a choice replaces. */
export interface QueryCompletion extends QueryPlace {
  readonly kind: 'field' | 'value'
  /** The field whose value it is; null while a field or free text is typed. */
  readonly field: QueryField | null
  /** What is there up to the caret. */
  readonly typed: string
  /** What the language itself knows: names of fields with their colon, or the values of a choice. */
  readonly options: readonly string[]
}
/** Takes any text, also a wrong one. Null within quotes of free text, and after a field that does not exist. */
export const completionAt = (text: string, caret: number, language: QueryLanguage): QueryCompletion | null => {
  const word = scanQuery(text.slice(0, queryBounds.length)).find(
    token => token.kind !== '(' && token.kind !== ')' && token.at < caret && caret <= token.at + token.length,
  )
  const fieldOptions = (typed: string) =>
    language.fields.map(({ name }) => `${name}:`).filter(name => name.startsWith(typed.toLowerCase()))
  if (!word) return { kind: 'field', field: null, at: caret, length: 0, typed: '', options: fieldOptions('') }
  if (word.kind !== 'word') {
    const typed = text.slice(word.at, caret)
    return { kind: 'field', field: null, at: word.at, length: word.length, typed, options: fieldOptions(typed) }
  }
  if (word.field === null || caret <= word.fieldAt + word.field.length) {
    if (word.values[0]?.quoted && word.field === null) return null
    const length = word.field === null ? word.at + word.length - word.fieldAt : word.field.length + 1
    const typed = text.slice(word.fieldAt, caret)
    return { kind: 'field', field: null, at: word.fieldAt, length, typed, options: fieldOptions(typed) }
  }
  const name = word.field.toLowerCase()
  const field = language.fields.find(known => known.name === name)
  const value = word.values.find(part => part.at <= caret && caret <= part.at + part.length)
  if (!field || !value) return null
  const typed = text.slice(value.at + (value.quoted ? 1 : 0), caret)
  const options = (field.choices ?? []).filter(choice => choice.startsWith(typed.toLowerCase()))
  return { kind: 'value', field, at: value.at, length: value.length, typed, options }
}
