import { lazy, useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { IconDoorEnter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { statusOf } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Page } from '../../kit/page.tsx'
import { Trouble, hasAnswered } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Sections } from '../identity/sections.tsx'
import { ProNeeded } from '../settings/pro-needed.tsx'
import { useKeyO } from './key.ts'
import { portknockTexts } from './portknock.texts.ts'
import { sequencesQuery } from './queries.ts'
import type { Sequence } from './queries.ts'

const OpenForMe = lazy(() => import('./open-for-me.tsx'))

type Tab = 'sequences' | 'open' | 'history' | 'blocked' | 'stats'

/**
 * What the pages of port knocking have around them. Without the licence there is only a page that says what it would be;
 * where the sequences can not be read, what else a page shows is there without them.
 */
export const KnockPage = (props: {
  tab: Tab
  actions?: ReactNode
  children: (sequences: readonly Sequence[] | undefined) => ReactNode
}) => {
  const t = textsOf(portknockTexts)
  const query = useQuery(sequencesQuery)
  const { may } = useMay('write')
  const [open, setOpen] = useState(false)
  const sequences = query.data?.sequences
  const nothing = sequences?.every(({ servers }) => servers.length === 0) ?? false
  const here = may && sequences !== undefined && !nothing
  const missing = statusOf(query.error) === 402
  // Nothing else is asked for before it is known whether there is a licence.
  const answered = hasAnswered(query)
  useKeyO(here && !missing, () => setOpen(true))
  if (missing) return <Without />
  return (
    <Page
      title={`${t.tabs[props.tab]} · ${t.title}`}
      heading={t.title}
      actions={
        <>
          {may && !nothing && (
            <Button
              leftSection={<IconDoorEnter size={16} />}
              disabled={!here}
              aria-keyshortcuts="o"
              onClick={() => setOpen(true)}
            >
              {t.forMe.button}
            </Button>
          )}
          {props.actions}
        </>
      }
    >
      <Sections
        label={t.sections}
        items={[
          { to: '/portknock/sequences', text: t.tabs.sequences },
          { to: '/portknock/open', text: t.tabs.open },
          { to: '/portknock/history', text: t.tabs.history },
          { to: '/portknock/blocked', text: t.tabs.blocked },
          { to: '/portknock/stats', text: t.tabs.stats },
        ]}
      />
      <Trouble what={t.what.sequences} query={query} />
      {!answered && <Waiting />}
      {answered && props.children(sequences)}
      {open && sequences && (
        <Dialogs>
          <OpenForMe sequences={sequences} onClose={() => setOpen(false)} />
        </Dialogs>
      )}
    </Page>
  )
}

const Without = () => {
  const t = textsOf(portknockTexts)
  const { title, what, how } = t.without
  return (
    <Page title={t.title}>
      <ProNeeded
        icon={<IconDoorEnter size={32} stroke={1.5} />}
        title={title}
        about={[what, how]}
        picture={['7000', '8000', '9000', '22']}
      />
    </Page>
  )
}

/** One page of a list that came whole. */
export const pageOf = <T,>(rows: readonly T[], page: number, limit: number): readonly T[] =>
  rows.slice((page - 1) * limit, page * limit)
