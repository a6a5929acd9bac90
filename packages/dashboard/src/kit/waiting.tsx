import { useEffect, useState } from 'react'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import parts from './parts.module.css'

/** Whether 150 ms have passed: a quick answer should not flash. */
export const useLate = (): boolean => {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150)
    return () => clearTimeout(timer)
  }, [])
  return late
}

/**
 * Whether something is read that was never there and never failed. A page whose panels wait for each other shows them at once, and none
 * is pushed down; what is shown stays also when a later read fails.
 */
export const isFirstRead = (query: {
  readonly isLoading: boolean
  readonly errorUpdateCount: number
  readonly failureReason: unknown
}): boolean => query.isLoading && query.errorUpdateCount === 0 && query.failureReason === null

/** Lines in the shape of what is to come. */
export const Waiting = ({ lines = 8 }: { lines?: number }) => {
  const late = useLate()
  return (
    <div className={parts.waiting} data-late={late || undefined}>
      <span className={parts.hidden} role="status">
        {late ? textsOf(commonTexts).loading : ''}
      </span>
      {Array.from({ length: lines }, (_, index) => (
        <i key={index} />
      ))}
    </div>
  )
}
