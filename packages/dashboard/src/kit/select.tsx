import type { FieldIds } from './field.tsx'
import parts from './parts.module.css'

export interface Option<V extends string | number> {
  readonly value: V
  readonly text: string
  /** The language of the text, where it is not that of the page. */
  readonly lang?: string
}
export interface Choosing<V extends string | number> {
  readonly value: V
  readonly options: readonly Option<V>[]
  readonly onValue: (value: V) => void
  readonly isOff?: boolean | undefined
  readonly name?: string
  readonly focus?: boolean
  readonly className?: string | undefined
}

/** One of several values, with a label of its own or that of a field. */
export const Select = <V extends string | number>(props: Choosing<V> & ({ label: string } | { ids: FieldIds })) => (
  <select
    {...('ids' in props ? props.ids : { 'aria-label': props.label })}
    className={props.className ?? parts.input}
    name={props.name}
    disabled={props.isOff}
    data-autofocus={props.focus || undefined}
    value={props.value}
    onChange={event => {
      const chosen = props.options.find(({ value }) => String(value) === event.currentTarget.value)
      if (chosen) props.onValue(chosen.value)
    }}
  >
    {props.options.map(({ value, text, lang }) => (
      <option key={value} value={value} lang={lang}>
        {text}
      </option>
    ))}
  </select>
)
