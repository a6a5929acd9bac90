import { useState } from 'react'
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ApiError, reasonOf, statusOf } from '../api/client.ts'
import { roleMay } from '../api/roles.ts'
import { useMe } from '../api/session.ts'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import { useWords } from './now.ts'
import parts from './parts.module.css'
import { TimeSentence } from './time.tsx'

/** What went wrong as a sentence: the API's own, or that nothing answered. Where it is done by force, only what speaks against it. */
export const sentenceOf = (error: unknown): string => {
  if (!(error instanceof ApiError)) return textsOf(commonTexts).noAnswer
  const { details = [] } = error.body
  return canForce(error) && details.length > 0 ? details.map(({ message }) => message).join(' ') : error.message
}

/** Whether the same request with `force` would be taken. */
export const canForce = (error: unknown): boolean => reasonOf(error) === 'force-required'

/** The message that belongs to a field of what was sent, or to one of its values (`recipients.2`), if the refusal names it. */
export const fieldProblem = (error: unknown, field: string): string | undefined =>
  error instanceof ApiError && !canForce(error)
    ? error.body.details?.find(({ path }) => {
        const fieldName = path.replace(/^\//, '').replaceAll('/', '.')
        return fieldName === field || fieldName.startsWith(`${field}.`)
      })?.message
    : undefined

/** Seconds until a refused request may be tried again, counting down; null without a limit. */
export const useCountdown = (error: unknown, at: number): number | null => {
  const seconds = useWords(now =>
    error instanceof ApiError && error.retryAfter !== null ? Math.ceil((at + error.retryAfter * 1000 - now) / 1000) : 0,
  )
  return seconds > 0 ? seconds : null
}

export interface Asked {
  readonly error: unknown
  readonly failureReason: unknown
  readonly failureCount: number
  readonly dataUpdatedAt: number
  readonly isFetching: boolean
  refetch(): unknown
}
/** Whether there is data or a first failure, so that what needs neither need not wait any longer. */
export const hasAnswered = (query: Pick<Asked, 'error' | 'failureReason' | 'dataUpdatedAt'>): boolean =>
  query.dataUpdatedAt > 0 || query.error !== null || query.failureReason !== null
/** What failed, since when, and a way to try again. Data that is on screen stays there. */
export const Trouble = ({ what, query }: { what: string; query: Asked }) => {
  const t = textsOf(commonTexts)
  if (!query.error)
    return statusOf(query.failureReason) === 429 ? (
      <Limited key={query.failureCount} error={query.failureReason} />
    ) : null
  return (
    <div className={parts.trouble} role="alert">
      <div>
        <strong>{t.failedToLoad(what)}</strong>
        <p>
          {sentenceOf(query.error)} <ToLicence error={query.error} />
        </p>
        {query.dataUpdatedAt > 0 && (
          <p>
            <TimeSentence at={new Date(query.dataUpdatedAt).toISOString()} say={t.shownFrom} />
          </p>
        )}
      </div>
      <Button variant="default" loading={query.isFetching} onClick={() => query.refetch()}>
        {t.retry}
      </Button>
    </div>
  )
}

/** The same of a small part of a page, in its own place and in one line. */
export const BriefTrouble = ({ what, query }: { what: string; query: Asked }) => {
  const t = textsOf(commonTexts)
  if (!query.error) return null
  return (
    <span role="alert" className={parts.brief}>
      {t.failedToLoad(what)}{' '}
      <button type="button" className={parts.quiet} onClick={() => query.refetch()}>
        {t.retry}
      </button>
    </span>
  )
}

/** Too many requests: when it goes on, by itself. One for each refusal, which is as old as this is. */
export const Limited = ({ error }: { error: unknown }) => {
  const [at] = useState(() => Date.now())
  const seconds = useCountdown(error, at)
  return seconds === null ? null : (
    <p className={parts.note} role="status">
      {textsOf(commonTexts).tryingAgain(seconds)}
    </p>
  )
}

/** Where the licence is what is missing: the way to it, for those who may go it. */
const ToLicence = ({ error }: { error: unknown }) => {
  const t = textsOf(commonTexts)
  const me = useMe()
  if (statusOf(error) !== 402 || !me) return null
  return roleMay(me.role, 'admin') ? <Link to="/settings/licence">{t.toLicence}</Link> : t.askForLicence
}

/** A refused change, in words. */
export const Refusal = ({ error }: { error: unknown }) =>
  error ? (
    <p className={parts.refusal} role="alert">
      {sentenceOf(error)} <ToLicence error={error} />
    </p>
  ) : null
