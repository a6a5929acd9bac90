import type { ReactNode } from 'react'
import { Link } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { statusOf } from '../../api/client.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Trouble, hasAnswered } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Sections } from '../identity/sections.tsx'
import { siemSettingsQuery } from './queries.ts'
import type { SiemSettings } from './queries.ts'
import { siemTexts } from './siem.texts.ts'

type Section = keyof (typeof siemTexts)['en']['section']

/**
 * A page of forwarding; without a licence it says what there would be. Where the settings can not be read, the rest of the
 * page is there without them.
 */
export const SiemPage = (props: {
  section: Section
  actions?: ReactNode
  children: (is: SiemSettings | undefined) => ReactNode
}) => {
  const t = textsOf(siemTexts)
  const settings = useQuery(siemSettingsQuery)
  // Nothing else is asked for before it is known whether there is a licence.
  const answered = hasAnswered(settings)
  if (statusOf(settings.error) === 402)
    return (
      <Page title={t.titles[props.section]}>
        <WithoutLicence />
      </Page>
    )
  return (
    <Page title={t.titles[props.section]} actions={answered && props.actions}>
      <Sections
        label={t.sections}
        items={[
          { to: '/siem/destination', text: t.section.destination },
          { to: '/siem/delivery', text: t.section.delivery },
          { to: '/siem/queue', text: t.section.queue },
          { to: '/siem/replay', text: t.section.replay },
        ]}
      />
      <Trouble what={t.what.settings} query={settings} />
      {!answered && <Waiting />}
      {answered && props.children(settings.data)}
    </Page>
  )
}

const WithoutLicence = () => {
  const t = textsOf(siemTexts)
  return (
    <div className={parts.empty}>
      <h2 className={parts.panelTitle}>{t.noLicence}</h2>
      {t.noLicenceText.map(sentence => (
        <p key={sentence}>{sentence}</p>
      ))}
      <ButtonLink to="/settings/licence">{t.toLicence}</ButtonLink>
    </div>
  )
}

export const ToDestination = () => (
  <Link to="/siem/destination" className={parts.link}>
    {textsOf(siemTexts).toDestination}
  </Link>
)
