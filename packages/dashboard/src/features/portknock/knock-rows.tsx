import type { ReactNode } from 'react'
import { useNavigate } from '@tanstack/react-router'
import { Loading } from '../../kit/loading.tsx'
import { Pages } from '../../kit/pages.tsx'
import parts from '../../kit/parts.module.css'
import { PastEnd } from '../../kit/past-end.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import type { Asked } from '../../kit/trouble.tsx'
import { pageOf } from './knock-page.tsx'
import styles from './portknock.module.css'

const limit = 50

/** A page of what is open or blocked now, in all its states. The reply holds all rows: they change by the minute. */
export const KnockRows = <Row,>(props: {
  what: string
  lead: string
  empty: string
  /** The answer to the last change, and why it was refused. */
  said: string
  refusal: unknown
  query: Asked & { readonly isPending: boolean }
  all: readonly Row[] | undefined
  page: number
  path: '/portknock/open' | '/portknock/blocked'
  children: (rows: readonly Row[]) => ReactNode
}) => {
  const { query, all, page, path } = props
  const navigate = useNavigate()
  const rows = pageOf(all ?? [], page, limit)
  const go = (to: number) => void navigate({ to: path, search: to > 1 ? { page: to } : {} })
  return (
    <>
      <p className={parts.muted}>{props.lead}</p>
      <div role="status" className={styles.said}>
        {props.said && <p className={parts.note}>{props.said}</p>}
      </div>
      <Refusal error={props.refusal} />
      <Loading what={props.what} query={query} lines={4} />
      {all?.length === 0 && (
        <div className={parts.empty}>
          <p>{props.empty}</p>
        </div>
      )}
      {all && all.length > 0 && rows.length === 0 && <PastEnd onFirst={() => go(1)} />}
      {rows.length > 0 && props.children(rows)}
      {all && all.length > limit && (
        <Pages page={page} limit={limit} shown={rows.length} total={all.length} onPage={go} />
      )}
    </>
  )
}
