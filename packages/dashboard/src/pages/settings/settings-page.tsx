import { useEffect, useRef } from 'react'
import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { Page } from '../../parts/page.tsx'
import parts from '../../parts/parts.module.css'
import { textsOf } from '../../texts/catalogue.ts'
import { commonTexts } from '../../texts/common.texts.ts'
import { Sections } from '../identity/sections.tsx'
import identity from '../identity/identity.module.css'
import { settingsTexts } from './settings.texts.ts'

export const SettingsPage = (props: { title: string; children: ReactNode }) => {
  const t = textsOf(settingsTexts)
  return (
    <Page title={props.title}>
      <Sections
        label={t.sections}
        items={[
          { to: '/settings/service', text: t.service },
          { to: '/settings/security', text: t.security },
          { to: '/settings/oauth', text: t.oauth },
          { to: '/settings/notifications', text: t.notifications },
          { to: '/settings/reputation', text: t.reputation },
          { to: '/settings/backup', text: t.backup },
          { to: '/settings/licence', text: t.licence },
        ]}
      />
      {props.children}
    </Page>
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
        <ul>
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
