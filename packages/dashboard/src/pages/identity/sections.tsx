import { Link } from '@tanstack/react-router'
import styles from './identity.module.css'

type Section =
  | `/account/${'profile' | 'security' | 'keys'}`
  | `/settings/${'service' | 'security' | 'oauth' | 'notifications' | 'reputation' | 'backup' | 'licence'}`

/** The pages that belong together, each with an address of its own. */
export const Sections = (props: {
  label: string
  items: readonly { readonly to: Section; readonly text: string }[]
}) => (
  <nav className={styles.sections} aria-label={props.label}>
    {props.items.map(({ to, text }) => (
      <Link key={to} to={to}>
        {text}
      </Link>
    ))}
  </nav>
)
