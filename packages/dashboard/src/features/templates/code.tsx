import { useRef } from 'react'
import type { Ref } from 'react'
import type { FieldIds } from '../../kit/field.tsx'
import styles from './templates.module.css'

export interface Marked {
  readonly line: number
  readonly severity: 'error' | 'warning'
}

/** A text of configuration with its line numbers; lines with problems stand out. A plain field: it works with every keyboard. */
export const Code = (props: {
  ids: FieldIds
  value: string
  onValue?: (value: string) => void
  marks?: readonly Marked[]
  rows?: number
  fieldRef?: Ref<HTMLTextAreaElement>
}) => {
  const { ids, value, onValue, marks = [], rows = 16, fieldRef } = props
  const gutter = useRef<HTMLDivElement>(null)
  const count = value.split('\n').length
  const classOf = (line: number) => {
    const here = marks.filter(mark => mark.line === line)
    return here.some(({ severity }) => severity === 'error')
      ? styles.error
      : here.length > 0
        ? styles.warning
        : undefined
  }
  return (
    <div className={styles.code} dir="ltr">
      <div className={styles.gutter} ref={gutter} aria-hidden="true" style={{ blockSize: 0, minBlockSize: '100%' }}>
        {Array.from({ length: count }, (_, index) => (
          <span key={index} className={classOf(index + 1)}>
            {index + 1}
          </span>
        ))}
      </div>
      <textarea
        {...ids}
        ref={fieldRef}
        className={styles.text}
        rows={Math.min(rows, Math.max(6, count + 1))}
        wrap="off"
        maxLength={65_536}
        autoCapitalize="none"
        autoCorrect="off"
        autoComplete="off"
        spellCheck={false}
        readOnly={!onValue}
        value={value}
        onScroll={event => {
          if (gutter.current) gutter.current.scrollTop = event.currentTarget.scrollTop
        }}
        onChange={event => onValue?.(event.currentTarget.value)}
      />
    </div>
  )
}

/** Puts the cursor on a line, and the line into sight. */
export const goToLine = (field: HTMLTextAreaElement | null, line: number): void => {
  if (!field) return
  const lines = field.value.split('\n')
  const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0)
  field.focus()
  field.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
  field.scrollTop = Math.max(0, (line - 4) * 20)
}
