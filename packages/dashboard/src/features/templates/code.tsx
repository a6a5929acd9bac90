import { useMemo, useRef } from 'react'
import type { Ref } from 'react'
import type { FieldIds } from '../../kit/field.tsx'
import { tokensOf } from './ini.ts'
import styles from './code.module.css'
import { plainText } from '../../kit/plain-text.ts'

export interface Marked {
  readonly line: number
  readonly severity: 'error' | 'warning'
}

/** A longer text is shown without colours: painting it at each key would take too long. */
const longestPainted = 30_000

/**
 * A text of configuration with its line numbers; lines with problems stand out. It is a plain field, which works with
 * every keyboard; the colours lie under it.
 */
export const Code = (props: {
  ids: FieldIds
  value: string
  onValue?: (value: string) => void
  marks?: readonly Marked[]
  rows?: number
  /** Whether it is a jail or a filter, and not lines of a log. */
  isIni?: boolean
  fieldRef?: Ref<HTMLTextAreaElement>
}) => {
  const { ids, value, onValue, marks = [], rows = 16, isIni = false, fieldRef } = props
  const gutter = useRef<HTMLDivElement>(null)
  const paint = useRef<HTMLPreElement>(null)
  const isPainted = isIni && value.length <= longestPainted
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
      <div className={styles.field}>
        {isPainted && (
          <pre className={styles.paint} ref={paint} aria-hidden="true">
            <Painted text={value} classOf={classOf} />
          </pre>
        )}
        <textarea
          {...ids}
          ref={fieldRef}
          className={isPainted ? `${styles.text ?? ''} ${styles.clear ?? ''}` : styles.text}
          rows={Math.min(rows, Math.max(6, count + 1))}
          wrap="off"
          maxLength={65_536}
          {...plainText}
          readOnly={!onValue}
          value={value}
          onScroll={event => {
            const { scrollTop, scrollLeft } = event.currentTarget
            if (gutter.current) gutter.current.scrollTop = scrollTop
            if (paint.current) paint.current.style.transform = `translate(${-scrollLeft}px, ${-scrollTop}px)`
          }}
          onChange={event => onValue?.(event.currentTarget.value)}
        />
      </div>
    </div>
  )
}

const Painted = (props: { text: string; classOf: (line: number) => string | undefined }) => {
  const lines = useMemo(() => props.text.split('\n').map(tokensOf), [props.text])
  return lines.map((tokens, index) => (
    <span key={index} className={props.classOf(index + 1)}>
      {tokens.map(({ kind, text }, at) => (
        <span key={at} data-kind={kind}>
          {text}
        </span>
      ))}
      {'\n'}
    </span>
  ))
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
