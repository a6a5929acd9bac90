import type { ReactNode } from 'react'
import { Page } from '../../kit/page.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Sections } from '../identity/sections.tsx'
import { accountTexts } from './account.texts.ts'
import { preferencesTexts } from './preferences.texts.ts'

export const AccountPage = (props: { title: string; children: ReactNode }) => {
  const t = textsOf(accountTexts)
  return (
    <Page title={props.title}>
      <Sections
        label={t.sections}
        items={[
          { to: '/account/profile', text: t.profile },
          { to: '/account/security', text: t.security },
          { to: '/account/keys', text: t.keys },
          { to: '/account/preferences', text: textsOf(preferencesTexts).title },
        ]}
      />
      {props.children}
    </Page>
  )
}
