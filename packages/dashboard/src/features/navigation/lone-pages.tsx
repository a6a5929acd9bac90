import { createContext, useContext, useEffect } from 'react'
import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ApiError, statusOf } from '../../api/client.ts'
import { useMe } from '../../api/session.ts'
import { CopyButton } from '../../kit/copy.tsx'
import { useTitle } from '../../kit/page.tsx'
import { Limited, sentenceOf } from '../../kit/trouble.tsx'
import parts from '../../kit/parts.module.css'
import { builtVersion } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { shellTexts } from './shell.texts.ts'
import styles from './lone-pages.module.css'

/** Set by the shell around its page: it has the main landmark, and gives its button for a search to pages that were not found. */
export const InShell = createContext<{ readonly findButton: ReactNode } | null>(null)

const Lone = (props: { title: string; text: string; children?: ReactNode }) => {
  useTitle(props.title)
  const Frame = useContext(InShell) === null ? 'main' : 'div'
  return (
    <Frame className={styles.lone}>
      <h1 className={parts.title}>{props.title}</h1>
      <p>{props.text}</p>
      {props.children}
    </Frame>
  )
}

export const NotFound = () => {
  const t = textsOf(shellTexts)
  const inShell = useContext(InShell)
  return (
    <Lone title={t.notFoundTitle} text={t.notFound}>
      {inShell && <div className={styles.loneFind}>{inShell.findButton}</div>}
      <div className={parts.row}>
        <Link to="/servers" className={parts.link}>
          {t.toServers}
        </Link>
        <Link to="/bans" search={{}} className={parts.link}>
          {t.toBans}
        </Link>
      </div>
    </Lone>
  )
}

/** Names the role that a page needs, or says that what it shows is outside one's access. */
export const Forbidden = ({ needed }: { needed?: 'Operator' | 'Admin' }) => {
  const t = textsOf(shellTexts)
  const roles = textsOf(commonTexts).roles
  const me = useMe()
  return (
    <Lone title={t.forbiddenTitle} text={me && needed ? t.forbidden(roles[me.role], roles[needed]) : t.forbiddenOther}>
      <Link to="/servers" className={parts.link}>
        {t.toServers}
      </Link>
    </Lone>
  )
}

/** A page that could not be shown at all: a defect, or no answer before there was anything to show. */
export const Broken = ({ error, reset }: { error: unknown; reset?: () => void }) => {
  const t = textsOf(shellTexts)
  const isExpected = error instanceof ApiError || error instanceof TypeError
  if (error instanceof ApiError && error.status === 404) return <NotFound />
  if (error instanceof ApiError && error.status === 403) return <Forbidden />
  if (statusOf(error) === 429) return <TooMany error={error} />
  const again = () => {
    reset?.()
    location.reload()
  }
  return (
    <Lone title={t.brokenTitle} text={isExpected ? sentenceOf(error) : t.broken}>
      {!isExpected && <pre className={parts.lines}>{error instanceof Error ? error.message : String(error)}</pre>}
      <div className={parts.row}>
        <Button onClick={again}>{t.reload}</Button>
        <CopyButton text={reportOf(error)} label={t.copyReport} />
      </div>
    </Lone>
  )
}

/** What a bug report needs; the sentence of a refusal contains the request id if there is one. */
const reportOf = (error: unknown): string =>
  [
    `Stockade ${builtVersion}`,
    location.pathname,
    navigator.userAgent,
    error instanceof ApiError ? `${error.status} ${error.body.error}: ${error.message}` : String(error),
    ...(error instanceof Error && error.stack && !(error instanceof ApiError) ? [error.stack.slice(0, 4000)] : []),
  ].join('\n')

/** Too many requests before there was anything to show: it goes on by itself when the time is over. */
const TooMany = ({ error }: { error: unknown }) => {
  const t = textsOf(shellTexts)
  const { retryAfter } = error instanceof ApiError ? error : { retryAfter: null }
  useEffect(() => {
    const timer = setTimeout(() => location.reload(), (retryAfter ?? 10) * 1000)
    return () => clearTimeout(timer)
  }, [retryAfter])
  return (
    <Lone title={t.limitedTitle} text={t.limitedText}>
      <Limited error={error} />
    </Lone>
  )
}
