import { textsOf } from '../../lib/texts/catalogue.ts'
import { Sections } from '../identity/sections.tsx'
import { addServerTexts } from './add-server.texts.ts'

/** The two ways to add servers: a command for one, a token for many. */
export const Tabs = () => {
  const t = textsOf(addServerTexts)
  return (
    <Sections
      label={t.tabsLabel}
      items={[
        { to: '/servers/new', text: t.one },
        { to: '/servers/tokens', text: t.many },
      ]}
    />
  )
}
