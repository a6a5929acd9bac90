import type { ReactNode } from 'react'
import { IconSend } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { statusOf } from '../../api/client.ts'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Trouble, hasAnswered } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Sections } from '../identity/sections.tsx'
import { ProNeeded } from '../settings/pro-needed.tsx'
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
        <ProNeeded
          icon={<IconSend size={32} stroke={1.5} />}
          title={t.noLicence}
          about={t.noLicenceText}
          picture={['web-01', 'Stockade', 'syslog · CEF · LEEF · JSON']}
        />
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

export const ToDestination = () => (
  <Link to="/siem/destination" className={parts.link}>
    {textsOf(siemTexts).toDestination}
  </Link>
)
