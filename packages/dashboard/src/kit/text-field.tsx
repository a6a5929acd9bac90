import type { HTMLAttributes, ReactNode } from 'react'
import { Field } from './field.tsx'
import type { Bound } from './form.ts'
import parts from './parts.module.css'

export interface Common<V>
  extends Pick<Bound<V>, 'label' | 'value' | 'onValue'>, Partial<Pick<Bound<V>, 'error' | 'isChanged'>> {
  readonly help?: ReactNode
}

/** One line of text, or several. */
export const TextField = (
  props: Common<string> & {
    most?: number
    kind?: HTMLAttributes<HTMLElement>['inputMode']
    list?: string
    rows?: number
    isOff?: boolean
    dir?: 'ltr'
    name?: string
    focus?: boolean
    type?: 'email' | 'url' | 'datetime-local'
    complete?: string
    isFixed?: boolean
  },
) => (
  <Field label={props.label} help={props.help} error={props.error} isChanged={props.isChanged}>
    {ids => {
      const common = {
        ...ids,
        className: parts.input,
        name: props.name,
        autoComplete: props.complete ?? 'off',
        autoCapitalize: 'none',
        autoCorrect: props.dir && 'off',
        spellCheck: false,
        dir: props.dir ?? 'auto',
        maxLength: props.most,
        disabled: props.isOff,
        readOnly: props.isFixed,
        value: props.value,
        ...(props.focus ? { 'data-autofocus': true } : {}),
      }
      return props.rows ? (
        <textarea {...common} rows={props.rows} onChange={event => props.onValue(event.currentTarget.value)} />
      ) : (
        <input
          {...common}
          type={props.type}
          inputMode={props.kind}
          list={props.list}
          onChange={event => props.onValue(event.currentTarget.value)}
        />
      )
    }}
  </Field>
)
