import { useEffect, useRef } from 'react'
import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { optionsQuery, summaryQuery } from '../api/queries.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import { textsOf } from '../lib/texts/catalogue.ts'
import parts from './parts.module.css'

/** Sets the document's title, `Bans · Stockade`, or `(2) Bans · Stockade` while two servers are offline. */
export const useTitle = (thing: string): void => {
  const options = useQuery({ ...optionsQuery, enabled: false }).data
  const { product, demo } = textsOf(commonTexts)
  const site = `${options?.site_name ?? product}${options?.demo ? ` · ${demo}` : ''}`
  const offline = useQuery({ ...summaryQuery, enabled: false }).data?.counts.offline ?? 0
  useEffect(() => {
    document.title = `${offline > 0 ? `(${offline}) ` : ''}${thing} · ${site}`
  }, [thing, site, offline])
}

let arrived = false
/** The one heading of a page. It takes the focus when the page is come to from another, so that it is read first. */
export const Heading = ({ children }: { children: ReactNode }) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (arrived) heading.current?.focus({ preventScroll: true })
    arrived = true
  }, [])
  return (
    <h1 className={parts.title} tabIndex={-1} ref={heading}>
      {children}
    </h1>
  )
}

/** A page: its heading, what can be done (under the thumb on phones), what it shows. */
export const Page = (props: { title: string; heading?: ReactNode; actions?: ReactNode; children: ReactNode }) => {
  useTitle(props.title)
  return (
    <div className={parts.page}>
      <header className={parts.head}>
        <Heading>{props.heading ?? props.title}</Heading>
        {props.actions && <div className={parts.actions}>{props.actions}</div>}
      </header>
      {props.children}
    </div>
  )
}

export const Panel = ({ title, children }: { title?: string; children: ReactNode }) => (
  <section className={parts.panel}>
    {title && <h2 className={parts.panelTitle}>{title}</h2>}
    {children}
  </section>
)
