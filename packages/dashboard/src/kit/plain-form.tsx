import type { CSSProperties, ReactNode } from 'react'
import parts from './parts.module.css'

/** The element of a form that checks its fields itself and sends them by script. */
export const PlainForm = (props: {
  onSubmit: () => void
  className?: string | undefined
  style?: CSSProperties
  children: ReactNode
}) => (
  <form
    className={props.className ?? parts.form}
    style={props.style}
    noValidate
    onSubmit={event => {
      event.preventDefault()
      props.onSubmit()
    }}
  >
    {props.children}
  </form>
)
