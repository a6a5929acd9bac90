import { createContext, useContext, useEffect, useRef } from 'react'
import type { ReactNode } from 'react'
import { createPortal } from 'react-dom'
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
export const Heading = ({ children, large = false }: { children: ReactNode; large?: boolean }) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (arrived) heading.current?.focus({ preventScroll: true })
    arrived = true
  }, [])
  return (
    <h1 className={large ? parts.answer : parts.title} tabIndex={-1} ref={heading}>
      {children}
    </h1>
  )
}

/** Where the shell has room for what belongs to its page: the title in the top bar. Null outside the shell. */
export const TitlePlace = createContext<HTMLElement | null>(null)

/**
 * A page. Inside the shell its title stands in the top bar, so the first row of the page is for work.
 * @param above a link to the list that the page is one thing of
 * @param range what the whole page is limited to, such as a period; beside the title
 * @param tools the left of the first row: search, filters, tabs
 * @param actions the right end of the first row; under the thumb on phones
 */
export const Page = (props: {
  title: string
  heading?: ReactNode
  above?: ReactNode
  range?: ReactNode
  tools?: ReactNode
  actions?: ReactNode
  children: ReactNode
}) => {
  useTitle(props.title)
  const place = useContext(TitlePlace)
  const { heading = props.title, above, range, tools, actions } = props
  const head = (
    <>
      {above && (
        <span className={parts.above}>
          {above}
          <span aria-hidden="true">/</span>
        </span>
      )}
      <Heading>{heading}</Heading>
      {range}
    </>
  )
  return (
    <div className={parts.page}>
      {place ? createPortal(head, place) : <div className={parts.head}>{head}</div>}
      {(tools || actions) && (
        <div className={parts.firstRow} data-bare={!tools || undefined}>
          {tools}
          {actions && <div className={parts.actions}>{actions}</div>}
        </div>
      )}
      {props.children}
    </div>
  )
}

/** @param aside at the right end of the panel's head: a legend, a link, a small control */
export const Panel = (props: { title?: string; aside?: ReactNode; children: ReactNode }) => (
  <section className={parts.panel}>
    {(props.title || props.aside) && (
      <header className={parts.panelHead}>
        {props.title && <h2 className={parts.panelTitle}>{props.title}</h2>}
        {props.aside && <div className={parts.panelAside}>{props.aside}</div>}
      </header>
    )}
    {props.children}
  </section>
)
