import { lazy, useMemo, useState } from 'react'
import { Button } from '@mantine/core'
import { IconBan } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMay } from '../../api/session.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { FindField } from '../../kit/find-field.tsx'
import { useKeys } from '../../kit/keys.ts'
import { Empty } from '../../kit/list-states.tsx'
import { List } from '../../kit/list.tsx'
import type { ListProps } from '../../kit/list.tsx'
import { SmallButton } from '../../kit/small-button.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { useTyped } from '../../kit/typed.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { ListPage } from '../identity/list-page.tsx'
import { columnsOf } from './columns.tsx'
import type { FleetBansSearch } from './filter.ts'
import { fleetBansTexts } from './fleet-bans.texts.ts'
import { lift } from './lift.ts'
import { fleetBansLimit, fleetBansQuery } from './queries.ts'
import type { FleetBan } from '../fleet/fleet-bans.ts'
import parts from '../../kit/parts.module.css'
import styles from './fleet-bans.module.css'

const BanDialog = lazy(() => import('../bans/ban-dialog.tsx'))
const ChangeDialog = lazy(() => import('./change-dialog.tsx'))
const DetailDialog = lazy(() => import('./detail-dialog.tsx'))

type Open = 'new' | { readonly change: FleetBan } | { readonly detail: FleetBan } | null

/** What is open over a list of fleet bans, and how it is opened. */
export const useFleetBanDialogs = () => {
  const { may } = useMay('write')
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const onChange = (ban: FleetBan) => setOpen({ change: ban })
  const liftAndClose = (ban: FleetBan) => {
    close()
    lift(ban)
  }
  const opened = open !== null && typeof open === 'object' ? open : null
  const dialogs = (
    <Dialogs>
      {open === 'new' && <BanDialog onClose={close} />}
      {opened && 'change' in opened && <ChangeDialog ban={opened.change} onClose={close} />}
      {opened && 'detail' in opened && (
        <DetailDialog
          given={opened.detail}
          onClose={close}
          onChange={may ? onChange : undefined}
          onLift={may ? liftAndClose : undefined}
        />
      )}
    </Dialogs>
  )
  const onNew = may ? () => setOpen('new') : undefined
  return { onNew, onChange, onDetail: (ban: FleetBan) => setOpen({ detail: ban }), dialogs }
}

/** Bans of the whole fleet as one entry each, with where they really hold. */
export const FleetBans = () => {
  const t = textsOf(fleetBansTexts)
  const { search, change } = useAsked()
  const { dialogs, ...opening } = useFleetBanDialogs()
  const { onNew } = opening
  useKeys(
    useMemo(() => [{ key: 'a', text: t.addKey, act: () => onNew?.(), there: () => onNew !== undefined }], [t, onNew]),
  )
  return (
    <ListPage title={t.title} lead={t.lead} add={t.add} onAdd={onNew}>
      <Tools />
      <FleetBanRows {...opening} search={search} change={change} />
      {dialogs}
    </ListPage>
  )
}

const useAsked = () => {
  const navigate = useNavigate()
  const search = useSearch({ from: '/inside/fleet-bans' })
  const change = (changed: FleetBansSearch) =>
    void navigate({ to: '/fleet-bans', search: { ...search, page: undefined, ...changed } })
  return { search, change }
}

const Tools = () => {
  const t = textsOf(fleetBansTexts)
  const { search, change } = useAsked()
  const { typed, setTyped } = useTyped(search.search ?? '', text => change({ search: text || undefined }), {
    wait: 300,
    valid: () => true,
    merge: unsent => unsent,
  })
  return (
    <div role="search" className={`${parts.row ?? ''} ${styles.tools ?? ''}`}>
      <Segmented
        label={t.show}
        value={search.show ?? 'standing'}
        options={[
          { value: 'standing', text: t.standing },
          { value: 'ended', text: t.ended },
        ]}
        onChange={show => change({ show: show === 'ended' ? 'ended' : undefined })}
      />
      <FindField label={t.search} value={typed} onValue={setTyped} />
    </div>
  )
}

export const FleetBanRows = (props: {
  search: FleetBansSearch
  most?: number
  excerpt?: ListProps<FleetBan>['excerpt']
  change: (changed: FleetBansSearch) => void
  onNew: (() => void) | undefined
  onChange: (ban: FleetBan) => void
  onDetail: (ban: FleetBan) => void
}) => {
  const t = textsOf(fleetBansTexts)
  const { search, change, most = fleetBansLimit } = props
  const page = search.page ?? 1
  const showEnded = search.show === 'ended'
  const may = props.onNew !== undefined
  const query = useQuery(
    fleetBansQuery({ active: !showEnded, page, limit: most, ...(search.search ? { search: search.search } : {}) }),
  )
  const acts = (ban: FleetBan) => (
    <>
      {may && !showEnded && <Changes ban={ban} onChange={props.onChange} />}
      <SmallButton aria-label={t.open(ban.entry)} data-open onClick={() => props.onDetail(ban)}>
        {t.details}
      </SmallButton>
    </>
  )
  return (
    <List
      what={t.what}
      caption={t.caption}
      columns={columnsOf({ showEnded, onOpen: props.onDetail })}
      query={query}
      rows={query.data?.fleet_bans}
      keyOf={({ id }) => id}
      page={page}
      limit={fleetBansLimit}
      total={query.data?.total ?? 0}
      onPage={to => change({ page: to === 1 ? undefined : to })}
      excerpt={props.excerpt}
      acts={acts}
      empty={
        <Empty
          icon={<IconBan size={32} stroke={1.5} />}
          title={showEnded ? t.emptyEnded : t.emptyTitle}
          text={showEnded ? '' : t.empty}
        >
          {props.onNew && !showEnded && <Button onClick={props.onNew}>{t.add}</Button>}
        </Empty>
      }
      noMatch={t.noMatch}
      filters={search.search ? [{ text: search.search, onRemove: () => change({ search: undefined }) }] : []}
      onClear={() => change({ search: undefined })}
    />
  )
}

const Changes = ({ ban, onChange }: { ban: FleetBan; onChange: (ban: FleetBan) => void }) => {
  const t = textsOf(fleetBansTexts)
  return (
    <>
      <SmallButton aria-label={t.liftOf(ban.entry)} onClick={() => lift(ban)}>
        {t.lift}
      </SmallButton>
      <SmallButton aria-label={t.changeOf(ban.entry)} onClick={() => onChange(ban)}>
        {t.change}
      </SmallButton>
    </>
  )
}
