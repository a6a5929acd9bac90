import { lazy, useMemo, useState } from 'react'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { every } from '../../api/quiet.ts'
import { useMay } from '../../api/session.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Loading } from '../../kit/loading.tsx'
import { ButtonLink } from '../../kit/button-link.tsx'
import { useListKeys } from '../../kit/list-keys.ts'
import parts from '../../kit/parts.module.css'
import { useNarrow } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { bansQuery } from '../bans/bans-list.ts'
import { BanCards, BanTable } from '../bans/bans-rows.tsx'
import { FixedSearch } from '../bans/narrowing.tsx'
import { useCommands } from '../commands/commands.tsx'
import { FixedCommands } from '../commands/narrowing.tsx'
import { grouped } from '../commands/rows.ts'
import { CommandList } from '../commands/table.tsx'
import { serverTexts } from './server.texts.ts'

const RunDialog = lazy(() => import('../commands/run-dialog.tsx'))

/** Its newest bans; all of them, with every filter, are on the page of bans. */
export const BansTab = () => {
  const t = textsOf(serverTexts)
  const { serverId } = useParams({ from: '/inside/servers/$serverId' })
  const [search] = useState({ server: serverId })
  const query = useQuery({ ...bansQuery(search), refetchInterval: every(10_000) })
  const narrow = useNarrow()
  useListKeys()
  const rows = query.data?.bans
  return (
    <FixedSearch value={search}>
      <Loading what={t.whatBans} query={query} />
      {rows && (
        <p className={parts.muted}>
          {rows.length === 0 ? t.noBans : t.lastBans(rows.length, number(query.data?.total ?? 0))}{' '}
          {rows.length > 0 && (
            <Link to="/bans" search={{ server: serverId }} className={parts.link}>
              {t.allBans}
            </Link>
          )}
        </p>
      )}
      {rows && rows.length > 0 && (narrow ? <BanCards rows={rows} /> : <BanTable rows={rows} opened={null} />)}
    </FixedSearch>
  )
}

/** What was asked of it lately, and a way to ask more. */
export const CommandsTab = () => {
  const t = textsOf(serverTexts)
  const { serverId } = useParams({ from: '/inside/servers/$serverId' })
  const { may } = useMay('write')
  const [running, setRunning] = useState(false)
  const [search] = useState({ server: serverId })
  const query = useCommands(search)
  const navigate = useNavigate()
  const rows = query.data?.commands
  const groups = useMemo(
    () =>
      rows &&
      grouped(
        rows.map(row => ({ ...row, batch_id: null })),
        true,
        true,
      ),
    [rows],
  )
  return (
    <FixedCommands value={search}>
      <div className={parts.row}>
        {may && <Button onClick={() => setRunning(true)}>{t.run}</Button>}
        <ButtonLink to="/commands" search={{ server: serverId }} variant="default">
          {t.allCommands}
        </ButtonLink>
      </div>
      {/* Of a batch only this server's part is here: nothing to be grouped. */}
      <CommandList
        query={query}
        groups={groups}
        page={1}
        total={query.data?.total ?? 0}
        onPage={page => void navigate({ to: '/commands', search: { server: serverId, page } })}
        filters={[]}
        onClear={() => {}}
        empty={<p className={parts.muted}>{t.noCommands}</p>}
      />
      {running && (
        <Dialogs>
          <RunDialog type="reload-all" server={serverId} onClose={() => setRunning(false)} />
        </Dialogs>
      )}
    </FixedCommands>
  )
}
