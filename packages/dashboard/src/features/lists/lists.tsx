import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { SmallButton } from '../../kit/small-button.tsx'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { BlocklistRows, useBlocklistDialogs } from '../blocklists/blocklists.tsx'
import { blocklistsTexts } from '../blocklists/blocklists.texts.ts'
import { FleetBanRows, useFleetBanDialogs } from '../fleet-bans/fleet-bans.tsx'
import { fleetBansTexts } from '../fleet-bans/fleet-bans.texts.ts'
import { ListTabs } from '../identity/list-page.tsx'
import type { listTabs } from '../navigation/places.ts'
import { shellTexts } from '../navigation/shell.texts.ts'
import { Rules, useRuleDialogs } from '../sharing-rules/rules.tsx'
import { rulesTexts } from '../sharing-rules/sharing-rules.texts.ts'

/** Rows of each list; the rest is one click away. */
const most = 5

/** What is banned on many servers, and why, on one page: fleet bans, blocklists and sharing rules. */
export const Lists = () => {
  const fleetBans = useFleetBanDialogs()
  const blocklists = useBlocklistDialogs()
  const rules = useRuleDialogs()
  return (
    <Page
      title={textsOf(shellTexts).lists}
      tools={<ListTabs />}
      actions={
        <>
          {blocklists.may && (
            <Button variant="default" onClick={blocklists.onNew}>
              {textsOf(blocklistsTexts).add}
            </Button>
          )}
          {fleetBans.onNew && (
            <Button leftSection={<IconPlus size={16} />} onClick={fleetBans.onNew}>
              {textsOf(fleetBansTexts).add}
            </Button>
          )}
        </>
      }
    >
      <p className={parts.muted}>{textsOf(fleetBansTexts).lead}</p>
      <FleetBansPart opening={fleetBans} />
      <BlocklistsPart opening={blocklists} />
      <RulesPart opening={rules} />
      {fleetBans.dialogs}
      {blocklists.dialogs}
      {rules.dialogs}
    </Page>
  )
}

const All = ({ to, what }: { to: (typeof listTabs)[number]['to']; what: string }) => {
  const t = textsOf(shellTexts)
  return (
    <Link to={to} aria-label={t.allOf(what)}>
      {t.all}
    </Link>
  )
}

const FleetBansPart = ({ opening }: { opening: ReturnType<typeof useFleetBanDialogs> }) => {
  const title = textsOf(shellTexts).fleetBans
  const navigate = useNavigate()
  return (
    <FleetBanRows
      {...opening}
      search={{}}
      most={most}
      excerpt={{ title, all: <All to="/fleet-bans" what={title} /> }}
      change={search => void navigate({ to: '/fleet-bans', search })}
    />
  )
}

const BlocklistsPart = ({ opening }: { opening: ReturnType<typeof useBlocklistDialogs> }) => {
  const title = textsOf(shellTexts).blocklists
  const navigate = useNavigate()
  return (
    <BlocklistRows
      {...opening}
      page={1}
      most={most}
      excerpt={{ title, all: <All to="/lists/blocklists" what={title} /> }}
      onPage={page => void navigate({ to: '/lists/blocklists', search: { page } })}
    />
  )
}

const RulesPart = ({ opening }: { opening: ReturnType<typeof useRuleDialogs> }) => (
  <Rules
    {...opening}
    most={most}
    aside={
      <>
        <All to="/lists/rules" what={textsOf(shellTexts).sharingRules} />
        {opening.may && <SmallButton onClick={() => opening.onOpen('new')}>{textsOf(rulesTexts).add}</SmallButton>}
      </>
    }
  />
)
