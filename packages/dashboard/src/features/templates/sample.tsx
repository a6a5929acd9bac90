import { useRef } from 'react'
import { Field } from '../../kit/field.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Code, goToLine } from './code.tsx'
import { rowsOf, tooMuchOf } from './sample-words.ts'
import type { LineMatch, SampleRow, TooMuch } from './sample-words.ts'
import { templatesTexts } from './templates.texts.ts'
import styles from './templates.module.css'

/** What the service said of a sample, together with that sample: marks must never stand beside other lines. */
export interface TriedSample {
  readonly sample: string
  readonly matches: readonly LineMatch[]
  readonly note: string | null
}

/** Lines of a log, and beside each whether the filter would find a failure in it. */
export const SampleLog = (props: {
  sample: string
  onSample: (sample: string) => void
  example: string | null
  tried: TriedSample | null
  checking: boolean
}) => {
  const { sample, onSample, example, tried, checking } = props
  const t = textsOf(templatesTexts).sample
  const field = useRef<HTMLTextAreaElement>(null)
  const tooMuch = tooMuchOf(sample)
  const rows = tried ? rowsOf(tried.sample, tried.matches) : []
  const matched = rows.filter(({ match }) => match?.matched).length
  const untried = rows.filter(({ match }) => match === null).length
  return (
    <div className={styles.group}>
      <Field label={t.title} help={t.help} error={tooMuch ? wordsOf(tooMuch) : undefined}>
        {ids => <Code ids={ids} value={sample} onValue={onSample} rows={10} fieldRef={field} />}
      </Field>
      {example !== null && sample !== example && (
        <div>
          <button type="button" className={parts.quiet} onClick={() => onSample(example)}>
            {t.example}
          </button>
        </div>
      )}
      <div role="status" className={styles.group}>
        {sample.trim() !== '' && !tooMuch && (
          <>
            {checking ? (
              <Mark tone="info">{t.trying}</Mark>
            ) : (
              tried && rows.length > untried && <p>{t.counts(matched, rows.length - untried, untried)}</p>
            )}
          </>
        )}
        {tried?.note && !tooMuch && (
          <p className={parts.note}>
            <Stranger text={tried.note} most={1000} />
          </p>
        )}
      </div>
      {rows.length > untried && !tooMuch && (
        // It scrolls, so the keyboard has to reach it.
        <ol className={styles.lines} tabIndex={0} aria-label={t.results}>
          {rows.map(row => (
            <Row key={row.line} row={row} onLine={() => goToLine(field.current, row.line)} />
          ))}
        </ol>
      )}
    </div>
  )
}

const Row = ({ row, onLine }: { row: SampleRow; onLine: () => void }) => {
  const t = textsOf(templatesTexts).sample
  const { line, text, match } = row
  return (
    <li>
      <button type="button" className={parts.quiet} onClick={onLine}>
        {t.line(line)}
      </button>
      {match === null ? (
        <Mark tone="warn">{t.untried}</Mark>
      ) : match.matched ? (
        <Mark tone="ok">{match.ip === null ? t.matchesNobody : t.matches(match.ip)}</Mark>
      ) : (
        <Mark tone="neutral">{t.noMatch}</Mark>
      )}
      <span className={`${parts.mono ?? ''} ${styles.lineText ?? ''}`} dir="ltr">
        <Stranger text={text} most={400} />
      </span>
    </li>
  )
}

const wordsOf = (tooMuch: TooMuch): string => {
  const t = textsOf(templatesTexts).sample
  return tooMuch.what === 'lines'
    ? t.tooManyLines(tooMuch.count, tooMuch.most)
    : tooMuch.what === 'line'
      ? t.lineTooLong(tooMuch.line, tooMuch.most)
      : t.tooLong(tooMuch.most)
}
