import { Button } from '@mantine/core'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { serversLimit, summaryQuery } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'
import { useMay } from '../../api/session.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import type { Period } from '../fleet/queries.ts'
import { CommandProgress } from '../fleet/command-progress.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import styles from './overview.module.css'
import { overviewTexts } from './overview.texts.ts'

/** Nothing was banned: that somebody watches all the same, and a way to see it. */
export const Quiet = ({ period }: { period: Period }) => {
  const t = textsOf(overviewTexts)
  const { may } = useMay('write')
  const servers = useQuery(summaryQuery).data?.servers ?? []
  // Their jails are in the pages of the list; with more than one page the note is not needed.
  const few = servers.length > 0 && servers.length <= serversLimit
  const states = servers.map(({ id, status }) => `${id} ${status}`).join()
  const watched = useQuery({
    // A host that comes or goes changes what is watched.
    queryKey: ['watched', states],
    queryFn: async ({ signal }) =>
      (await api.call('GET /servers', { query: { limit: serversLimit }, signal })).servers.reduce(
        (sum, { active_jails }) => sum + active_jails,
        0,
      ),
    enabled: few,
    placeholderData: keepPreviousData,
    refetchInterval: every(15_000),
  }).data
  const online = servers.find(({ status }) => status === 'online')
  return (
    <div className={parts.empty}>
      <p>
        {t.quietTitle(textsOf(fleetTexts).periods[period])}{' '}
        {few && watched !== undefined && t.watching(servers.length, watched)}
      </p>
      {may && online && <TestBan server={online} />}
    </div>
  )
}

const TestBan = ({ server }: { server: { readonly id: string; readonly hostname: string } }) => {
  const t = textsOf(overviewTexts)
  const ban = useMutation({
    mutationFn: () =>
      api.call('POST /servers/{serverId}/bans', {
        params: { serverId: server.id },
        body: { ip: '192.0.2.1', duration: 60, reason: t.testReason },
      }),
  })
  return (
    <>
      {ban.data ? (
        <CommandProgress commandId={ban.data.command_id} />
      ) : (
        <Button variant="default" loading={ban.isPending} onClick={() => ban.mutate()}>
          {t.testBan}
        </Button>
      )}
      <p className={`${parts.help ?? ''} ${styles.testHelp ?? ''}`}>
        <bdi>{t.testHelp(nameOf(server.hostname))}</bdi>
      </p>
      <Refusal error={ban.error} />
    </>
  )
}
