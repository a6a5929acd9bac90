import { useState } from 'react'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import fleet from '../fleet/fleet.module.css'
import { syncQuery } from '../fleet/queries.ts'
import type { Sync } from '../fleet/queries.ts'
import { WhitelistReceipt } from '../fleet/receipts.tsx'
import { useSync } from '../fleet/sync.ts'
import { Loading } from '../../kit/loading.tsx'
import { CopyButton } from '../../kit/copy.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { Approve } from '../commands/approve.tsx'
import { whitelistTexts } from './whitelist.texts.ts'
import styles from './whitelist.module.css'

const urgency = { failed: 0, pending: 1, never: 2, synced: 3 } as const
const first = 50

/** Which servers hold the list. */
export const SyncPanel = () => {
  const t = textsOf(whitelistTexts).sync
  const texts = textsOf(whitelistTexts)
  const { may } = useMay('write')
  const query = useSync()
  const [all, setAll] = useState(false)
  const servers = [...(query.data?.servers ?? [])].sort((a, b) => urgency[a.sync_status] - urgency[b.sync_status])
  const visibleServers = all ? servers : servers.slice(0, first)
  const url = `${ownAddress}/api/v1/whitelist.txt`
  const sync = useMutation({
    mutationFn: () => api.call('POST /whitelist/sync', { body: {} }),
    onSuccess: () => queries.invalidateQueries({ queryKey: syncQuery.queryKey }),
  })
  return (
    <Panel title={t.title}>
      <div className={fleet.stack}>
        <Loading what={texts.whatSync} query={query} lines={3} />
        {query.data && servers.length === 0 && <p className={parts.muted}>{t.none}</p>}
        {query.data && (
          <div className={fleet.line}>
            <WhitelistReceipt since={0} />
            {servers.length > 0 && may && (
              <SmallButton loading={sync.isPending} onClick={() => sync.mutate()}>
                {t.all}
              </SmallButton>
            )}
          </div>
        )}
        <Refusal error={sync.error} />
        <ul className={fleet.lines} aria-label={t.title}>
          {visibleServers.map(server => (
            <SyncRow key={server.id} server={server} />
          ))}
        </ul>
        {servers.length > visibleServers.length && (
          <button type="button" className={parts.quiet} onClick={() => setAll(true)}>
            {t.more(servers.length - visibleServers.length)}
          </button>
        )}
        {/* With the servers above it, so that it does not move. */}
        {!query.isPending && (
          <>
            <p className={parts.help}>{t.text}</p>
            <p className={styles.url}>
              <span className={parts.mono} title={url}>
                {url}
              </span>
              <CopyButton text={url} label={textsOf(commonTexts).copy} />
            </p>
          </>
        )}
      </div>
    </Panel>
  )
}

export const SyncRow = ({ server }: { server: Sync }) => {
  const t = textsOf(whitelistTexts).sync
  const { may } = useMay('write')
  const sync = useMutation({
    mutationFn: () => api.call('POST /whitelist/sync', { body: { server_ids: [server.id] } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: syncQuery.queryKey }),
  })
  return (
    <li data-sync={server.sync_status}>
      <span>
        <Link to="/servers/$serverId" params={{ serverId: server.id }} className={styles.server}>
          <Stranger text={server.hostname} most={60} />
        </Link>
        <span className={parts.help}>
          {server.entry_count !== null && <> {t.entries(number(server.entry_count), server.entry_count)}</>}
          {server.last_sync && (
            <>
              {' · '}
              <Time at={server.last_sync} />
            </>
          )}
        </span>
        {server.error && (
          <p className={parts.error}>
            <Stranger text={server.error} most={200} />
          </p>
        )}
        {may && <Approve server={server} error={server.error} />}
        <Refusal error={sync.error} />
      </span>
      <State is={server.sync_status} />
      {may && server.sync_status === 'failed' && (
        <SmallButton aria-label={t.one(nameOf(server.hostname))} loading={sync.isPending} onClick={() => sync.mutate()}>
          {t.oneShort}
        </SmallButton>
      )}
    </li>
  )
}
