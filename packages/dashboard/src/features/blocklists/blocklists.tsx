import { lazy, useState } from 'react'
import { Button } from '@mantine/core'
import { IconListDetails } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Dialogs } from '../../kit/dialogs.tsx'
import { SmallButton } from '../../kit/small-button.tsx'
import { useMay } from '../../api/session.ts'
import { Empty } from '../../kit/list-states.tsx'
import { List } from '../../kit/list.tsx'
import type { ListProps } from '../../kit/list.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { ListPage } from '../identity/list-page.tsx'
import { setMode } from './acts.ts'
import { blocklistsTexts } from './blocklists.texts.ts'
import { columnsOf } from './columns.tsx'
import { blocklistsLimit, blocklistsQuery } from './queries.ts'
import type { Blocklist } from './queries.ts'

const SubscribeDialog = lazy(() => import('./subscribe-dialog.tsx'))
const DetailDialog = lazy(() => import('./detail-dialog.tsx'))
const ChangeDialog = lazy(() => import('./change-dialog.tsx'))

type Opened = { readonly what: 'new' } | { readonly what: 'details' | 'change'; readonly list: Blocklist }

/** What is open over a list of blocklists, and how it is opened. */
export const useBlocklistDialogs = () => {
  const { may } = useMay('write')
  const [open, setOpen] = useState<Opened | null>(null)
  const close = () => setOpen(null)
  const dialogs = (
    <Dialogs>
      {open?.what === 'new' && <SubscribeDialog onClose={close} />}
      {open?.what === 'details' && (
        <DetailDialog
          given={open.list}
          may={may}
          onClose={close}
          onChange={list => setOpen({ what: 'change', list })}
        />
      )}
      {open?.what === 'change' && <ChangeDialog list={open.list} onClose={close} />}
    </Dialogs>
  )
  const onOpen = (list: Blocklist) => setOpen({ what: 'details', list })
  return { may, onNew: () => setOpen({ what: 'new' }), onOpen, dialogs }
}

/** Lists that others keep, and where they really hold. */
export const Blocklists = () => {
  const t = textsOf(blocklistsTexts)
  const navigate = useNavigate()
  const { page = 1 } = useSearch({ from: '/inside/lists/blocklists' })
  const { dialogs, ...opening } = useBlocklistDialogs()
  return (
    <ListPage title={t.title} lead={t.lead} add={t.add} onAdd={opening.may ? opening.onNew : undefined}>
      <BlocklistRows
        {...opening}
        page={page}
        onPage={to => void navigate({ to: '/lists/blocklists', search: to === 1 ? {} : { page: to } })}
      />
      {dialogs}
    </ListPage>
  )
}

export const BlocklistRows = (props: {
  may: boolean
  page: number
  most?: number
  excerpt?: ListProps<Blocklist>['excerpt']
  onPage: (page: number) => void
  onNew: () => void
  onOpen: (list: Blocklist) => void
}) => {
  const t = textsOf(blocklistsTexts)
  const query = useQuery(blocklistsQuery(props.page, props.most))
  return (
    <List
      what={t.what}
      caption={t.caption}
      columns={columnsOf(props.onOpen)}
      query={query}
      rows={query.data?.lists}
      keyOf={({ id }) => id}
      page={props.page}
      limit={blocklistsLimit}
      total={query.data?.total ?? 0}
      onPage={props.onPage}
      excerpt={props.excerpt}
      acts={list => (
        <>
          {props.may && <Turn list={list} />}
          <SmallButton aria-label={t.open(list.name)} data-open onClick={() => props.onOpen(list)}>
            {t.details}
          </SmallButton>
        </>
      )}
      empty={
        <Empty icon={<IconListDetails size={32} stroke={1.5} />} title={t.emptyTitle} text={t.empty}>
          {props.may && <Button onClick={props.onNew}>{t.add}</Button>}
        </Empty>
      }
      noMatch={t.noMatch}
      filters={[]}
      onClear={() => undefined}
    />
  )
}

/** From counting to dropping, and back, with one click. */
const Turn = ({ list }: { list: Blocklist }) => {
  const t = textsOf(blocklistsTexts)
  const isEnforced = list.mode === 'enforce'
  return (
    <SmallButton
      aria-label={(isEnforced ? t.observeOf : t.enforceOf)(list.name)}
      onClick={() => setMode(list, isEnforced ? 'observe' : 'enforce')}
    >
      {isEnforced ? t.observe : t.enforce}
    </SmallButton>
  )
}
