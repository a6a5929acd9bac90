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
          { to: '/settings/security', text: t.security },
          { to: '/settings/oauth', text: t.oauth },
        ]}
      />
      {props.children}
    </Page>
  )
}

/** Appears with the first change and lists what would be saved. */
export const SaveBar = (props: { changes: readonly string[]; busy: boolean; onDiscard: () => void }) => {
  const t = textsOf(settingsTexts)
  if (props.changes.length === 0) return null
  return (
    <div className={identity.saveBar} role="group" aria-label={t.willChange}>
      <div>
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
