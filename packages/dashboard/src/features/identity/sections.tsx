import { useEffect, useRef } from 'react'
import { Link } from '@tanstack/react-router'
import type { listTabsOfAdmins } from '../navigation/places.ts'
import styles from './identity.module.css'

type Section =
  | `/account/${'profile' | 'security' | 'keys' | 'preferences'}`
  | `/settings/${'general' | 'security' | 'oauth' | 'notifications' | 'channels' | 'reputation' | 'agents' | 'backup' | 'licence'}`
  | `/servers/${'new' | 'tokens'}`
  | `/siem/${'destination' | 'delivery' | 'queue' | 'replay'}`
  | (typeof listTabsOfAdmins)[number]['to']
  | `/portknock/${'sequences' | 'open' | 'history' | 'blocked' | 'stats'}`

/** The pages that belong together, each with an address of its own. */
export const Sections = (props: {
  label: string
  /** A column beside the page where there is room for it. */
  beside?: boolean
  items: readonly { readonly to: Section; readonly text: string; readonly about?: string }[]
}) => {
  const nav = useRef<HTMLElement>(null)
  // On phones they do not all fit: the one that is shown has to be seen.
  useEffect(() => {
    const bar = nav.current
    const current = bar?.querySelector<HTMLElement>('[aria-current=page]')
    if (bar && current) bar.scrollLeft = current.offsetLeft - (bar.clientWidth - current.offsetWidth) / 2
  }, [])
  return (
    <nav className={styles.sections} data-beside={props.beside || undefined} aria-label={props.label} ref={nav}>
      {props.items.map(({ to, text, about }) => (
        <Link key={to} to={to} activeOptions={{ exact: true, includeSearch: false }}>
          {text}
          {about && <small aria-hidden="true">{about}</small>}
        </Link>
      ))}
    </nav>
  )
}
