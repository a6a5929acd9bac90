import { lazy, useState } from 'react'
import type { Dispatch, SetStateAction } from 'react'
import { Button } from '@mantine/core'
import { IconRss } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Empty } from '../../kit/list-states.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { toasts } from '../../kit/toasts.ts'
import { Trouble } from '../../kit/trouble.tsx'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Confirm } from '../identity/dialogs.ts'
import { ListPage } from '../identity/list-page.tsx'
import type { Feed } from './consumers.ts'
import { feedsTexts } from './feeds.texts.ts'
import { feedsQuery, readFeedsAgain } from './queries.ts'
import styles from './feeds.module.css'

const FeedDialog = lazy(() => import('./feed-dialog.tsx'))
const UseDialog = lazy(() => import('./use-dialog.tsx'))

type Act = 'edit' | 'use' | 'rotate' | 'remove'
type Open = 'new' | { readonly act: Act; readonly feed: Feed; readonly url?: string } | null

/** What firewalls and other programs download, and how to make them do it. */
export const Feeds = () => {
  const t = textsOf(feedsTexts)
  const [open, setOpen] = useState<Open>(null)
  return (
    <ListPage title={t.title} lead={t.lead} add={t.add} onAdd={() => setOpen('new')}>
      <Rows onOpen={setOpen} />
      <Dialogs>
        <Opened open={open} onOpen={setOpen} />
      </Dialogs>
    </ListPage>
  )
}

const Rows = ({ onOpen }: { onOpen: (open: Open) => void }) => {
  const t = textsOf(feedsTexts)
  const query = useQuery(feedsQuery)
  const feeds = query.data?.feeds
  return (
    <>
      <Trouble what={t.what} query={query} />
      {feeds?.length === 0 && (
        <Empty icon={<IconRss size={32} stroke={1.5} />} title={t.emptyTitle} text={t.empty}>
          <Button onClick={() => onOpen('new')}>{t.add}</Button>
        </Empty>
      )}
      {feeds && feeds.length > 0 && (
        <Panel>
          <ul className={styles.feeds} aria-label={t.title}>
            {feeds.map(feed => (
              <FeedRow key={feed.id} feed={feed} onAct={act => onOpen({ act, feed })} />
            ))}
          </ul>
        </Panel>
      )}
    </>
  )
}

const FeedRow = ({ feed, onAct }: { feed: Feed; onAct: (act: Act) => void }) => {
  const t = textsOf(feedsTexts)
  const contents = !feed.bans ? t.fleetOnly : feed.fleet_bans ? t.hostsAndFleet(feed.q) : t.hosts(feed.q)
  const acts = [
    ['use', t.use, t.useOf],
    ['edit', t.edit, t.editOf],
    ['rotate', t.rotate, t.rotateOf],
    ['remove', t.remove, t.removeOf],
  ] as const
  return (
    <li className={styles.feed}>
      <h2>
        <Stranger text={feed.name} most={100} />
      </h2>
      <p className={parts.muted}>
        {feed.used_at === null ? (
          t.never
        ) : (
          <>
            {t.used} <Time at={feed.used_at} /> {feed.used_from !== null && t.usedFrom(feed.used_from)}
          </>
        )}
      </p>
      <p className={styles.contents}>
        {contents} · {t.families[feed.family]} · {t.atMost(number(feed.maximum))}
      </p>
      <div className={`${styles.acts ?? ''} ${parts.untilTouched ?? ''}`}>
        {acts.map(([act, text, label]) => (
          <SmallButton key={act} aria-label={label(feed.name)} onClick={() => onAct(act)}>
            {text}
          </SmallButton>
        ))}
      </div>
    </li>
  )
}

const Opened = ({ open, onOpen }: { open: Open; onOpen: Dispatch<SetStateAction<Open>> }) => {
  const t = textsOf(feedsTexts)
  const close = () => onOpen(null)
  if (open === null) return null
  const show = (feed: Feed & { url: string }) => {
    void readFeedsAgain()
    onOpen({ act: 'use', feed, url: feed.url })
  }
  if (open === 'new') return <FeedDialog onMade={show} onClose={close} />
  const { act, feed, url } = open
  const params = { id: feed.id }
  switch (act) {
    case 'edit':
      return <FeedDialog feed={feed} onMade={show} onClose={close} />
    case 'use':
      return <UseDialog feed={feed} url={url} onClose={close} />
    case 'rotate':
      return (
        <Confirm
          title={t.rotateOf(feed.name)}
          text={t.rotateText}
          verb={t.rotateNow}
          act={async () => show(await api.call('POST /fleet/feeds/{id}/rotate', { params }))}
          // The dialog with the new URL has taken its place where the request succeeded.
          onClose={() => onOpen(now => (now !== null && now !== 'new' && now.url !== undefined ? now : null))}
        />
      )
    case 'remove':
      return (
        <Confirm
          title={t.removeOf(feed.name)}
          text={t.removeText(feed.name)}
          verb={t.removeNow}
          act={async () => {
            await api.call('DELETE /fleet/feeds/{id}', { params })
            await readFeedsAgain()
            toasts.show({ text: t.removed(feed.name) })
          }}
          onClose={close}
        />
      )
  }
}
