import { useEffect, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLeaveGuard } from '../../kit/leave.ts'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { Sections } from '../identity/sections.tsx'
import identity from '../identity/identity.module.css'
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

/** Over all sections; what is found leads to its page. */
const Find = () => {
  const t = textsOf(settingsTexts)
  const [typed, setTyped] = useState('')
  const found = findSettings(typed)
  return (
    <div role="search" className={styles.find}>
      <input
        className={parts.input}
        type="search"
        aria-label={t.find}
        placeholder={t.find}
        autoComplete="off"
        spellCheck={false}
        maxLength={100}
        value={typed}
        onChange={event => setTyped(event.currentTarget.value)}
      />
      <div role="status" className={parts.hidden}>
        {typed.trim() && t.found(found.length)}
      </div>
      {typed.trim() !== '' && (
        <ul className={styles.found}>
          {found.map(({ section, name }) => (
            <li key={`${section} ${name}`}>
              <Link to={`/settings/${section}`} className={styles.hit} onClick={() => setTyped('')}>
                {name} <span className={parts.muted}>{section === 'general' ? t.service : t[section]}</span>
              </Link>
            </li>
          ))}
          {found.length === 0 && <li className={parts.muted}>{t.found(0)}</li>}
        </ul>
      )}
    </div>
  )
}

/** Appears with the first change and lists what would be saved; Ctrl S saves it too. */
export const SaveBar = (props: {
  changes: readonly string[]
  busy: boolean
  onDiscard: () => void
  /** Names of what somebody else changed meanwhile. */
  overtaken?: readonly string[]
}) => {
  const t = textsOf(settingsTexts)
  const bar = useRef<HTMLDivElement>(null)
  const shown = props.changes.length > 0
  // While it is saved nothing is lost any more, and some forms leave by themselves then.
  useLeaveGuard(shown && !props.busy)
  useEffect(() => {
    if (!shown) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      bar.current?.closest('form')?.requestSubmit()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [shown])
  // It grows with the list and lies over the form: what takes the focus rests above it, and so do the toasts.
  useEffect(() => {
    const { style } = document.documentElement
    const height = bar.current?.offsetHeight ?? 0
    style.scrollPaddingBlockEnd = height > 0 ? `calc(var(--bottom) + ${height + 16}px)` : ''
    style.setProperty('--save-bar', `${height}px`)
    return () => {
      style.scrollPaddingBlockEnd = ''
      style.removeProperty('--save-bar')
    }
  }, [props.changes.length, props.overtaken?.length])
  if (!shown) return null
  return (
    <div className={identity.saveBar} role="group" aria-label={t.willChange} ref={bar}>
      <div>
        {props.overtaken && props.overtaken.length > 0 && (
          <p className={parts.warn} role="alert">
            {t.overtaken(props.overtaken.join(', '))}
          </p>
        )}
        <strong>{t.willChange}</strong>
        {/* A long list scrolls, so the keyboard has to reach it. */}
        <ul className={styles.pending} tabIndex={props.changes.length > 4 ? 0 : undefined}>
          {props.changes.map(change => (
            <li key={change}>{change}</li>
          ))}
        </ul>
      </div>
      <div className={parts.row}>
        <Button variant="default" onClick={props.onDiscard}>
          {t.discard}
        </Button>
        <Button type="submit" loading={props.busy}>
          {textsOf(commonTexts).save}
        </Button>
      </div>
    </div>
  )
}
