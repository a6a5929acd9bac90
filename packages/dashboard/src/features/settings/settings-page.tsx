import { useState } from 'react'
import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { UseQueryResult } from '@tanstack/react-query'
import { IconSearch } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { FindField } from '../../kit/find-field.tsx'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Trouble } from '../../kit/trouble.tsx'
import { Waiting, isFirstRead } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Sections } from '../identity/sections.tsx'
import { changesQuery } from './fields.tsx'
import { findSettings } from './index-of.ts'
import styles from './settings.module.css'
import { settingsTexts } from './settings.texts.ts'

export const SettingsPage = (props: { title: string; children: ReactNode }) => {
  const t = textsOf(settingsTexts)
  return (
    <Page
      title={`${props.title} · ${t.sections}`}
      heading={props.title}
      above={<Link to="/settings">{t.sections}</Link>}
    >
      <div className={styles.layout}>
        <div className={styles.side}>
          <Find />
          <Sections
            label={t.sections}
            beside
            items={[
              { to: '/settings/general', text: t.service, about: t.abouts.service },
              { to: '/settings/security', text: t.security, about: t.abouts.security },
              { to: '/settings/oauth', text: t.oauth, about: t.abouts.oauth },
              { to: '/settings/notifications', text: t.notifications, about: t.abouts.notifications },
              { to: '/settings/reputation', text: t.reputation, about: t.abouts.reputation },
              { to: '/settings/agents', text: t.agents, about: t.abouts.agents },
              { to: '/settings/backup', text: t.backup, about: t.abouts.backup },
              { to: '/settings/licence', text: t.licence, about: t.abouts.licence },
            ]}
          />
        </div>
        <div className={styles.main}>{props.children}</div>
      </div>
    </Page>
  )
}

/** A section that reads one thing: the form once it is there. */
export const SettingsSection = <T,>(props: {
  title: string
  query: UseQueryResult<T>
  children: (is: T) => ReactNode
}) => {
  const { query } = props
  // Read in each rendering: only what was read makes the section render again.
  const { isPending, data } = query
  // The last change stands below its field, and would move the fields after it.
  const isWaiting = isFirstRead(useQuery(changesQuery)) || isPending
  return (
    <SettingsPage title={props.title}>
      <Trouble what={textsOf(settingsTexts).what} query={query} />
      {isWaiting ? <Waiting lines={4} /> : data !== undefined && props.children(data)}
    </SettingsPage>
  )
}

/** Over all sections; what is found leads to its page. */
const Find = () => {
  const t = textsOf(settingsTexts)
  const [typed, setTyped] = useState('')
  const matches = findSettings(typed)
  return (
    <div role="search" className={styles.find}>
      <IconSearch size={16} aria-hidden="true" />
      <FindField label={t.find} value={typed} onValue={setTyped} most={100} />
      <div role="status" className={parts.hidden}>
        {typed.trim() && t.found(matches.length)}
      </div>
      {typed.trim() !== '' && (
        <ul className={styles.found}>
          {matches.map(({ section, name }) => (
            <li key={`${section} ${name}`}>
              <Link to={`/settings/${section}`} className={styles.hit} onClick={() => setTyped('')}>
                {name} <span className={parts.muted}>{section === 'general' ? t.service : t[section]}</span>
              </Link>
            </li>
          ))}
          {matches.length === 0 && <li className={parts.muted}>{t.found(0)}</li>}
        </ul>
      )}
    </div>
  )
}
