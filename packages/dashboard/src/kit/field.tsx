import { useId } from 'react'
import type { ReactNode } from 'react'
import parts from './parts.module.css'

/** Props that tie an input to its label, help and error. */
export interface FieldIds {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': true | undefined
}
/** Label above, help under, the error beside the field. */
export const Field = (props: {
  label: string
  help?: ReactNode
  error?: string | undefined
  isChanged?: boolean | undefined
  children: (ids: FieldIds) => ReactNode
}) => {
  const id = useId()
  const { label, help, error, children } = props
  const described = [error ? `${id}-error` : '', help ? `${id}-help` : ''].filter(Boolean).join(' ')
  return (
    <div className={parts.field} data-changed={props.isChanged || undefined}>
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {error && (
        <p id={`${id}-error`} className={parts.error}>
          {error}
        </p>
      )}
      {help && (
        <div id={`${id}-help`} className={parts.help}>
          {help}
        </div>
      )}
    </div>
  )
}
