import { lazy, useMemo, useState } from 'react'
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { serversQuery } from '../../api/queries.ts'
import { useMay, useMe } from '../../api/session.ts'
import { whitelistLimit, whitelistQuery } from '../fleet/queries.ts'
import type { Entry } from '../fleet/queries.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { useKeys } from '../../kit/keys.ts'
import { List } from '../../kit/list.tsx'
import { Page } from '../../kit/page.tsx'
import { SmallButton } from '../../kit/small-button.tsx'
import { SelectionBar } from '../../kit/selection-bar.tsx'
import { useSelection } from '../../kit/selection.ts'
import { hasAnswered } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { columnsOf } from './columns.tsx'
import { EmptyWhitelist } from './empty.tsx'
import { Exports } from './exports.tsx'
import { NamesPanel } from './names-panel.tsx'
import { RemoveDialog, useRemoval } from './removal.tsx'
import { WhitelistSearch } from './search.tsx'
import { SyncPanel } from './sync-panel.tsx'
import { whitelistTexts } from './whitelist.texts.ts'
import styles from './whitelist.module.css'

const AddDialog = lazy(() => import('./add-dialog.tsx'))
const ImportDialog = lazy(() => import('./import-dialog.tsx'))
const EditDialog = lazy(() => import('./edit-dialog.tsx'))

type Open = 'add' | 'import' | { readonly edit: Entry } | null
const keyOf = ({ id }: Entry): string | number => id

/** Addresses that are never banned, and whether every server holds them. */
export const Whitelist = () => {
  const t = textsOf(whitelistTexts)
  const { may } = useMay('write')
  const [open, setOpen] = useState<Open>(null)
  useKeys(useMemo(() => [{ key: 'a', text: t.addKey, act: () => setOpen('add'), there: () => may }], [t, may]))
  const removal = useRemoval()
  const close = () => setOpen(null)
  const remove = (entries: readonly Entry[], done?: () => void) => {
    setOpen(null)
    removal.ask(entries, done)
  }
  return (
    <Page
      title={t.title}
      tools={<WhitelistSearch />}
      actions={
        may && (
          <>
            <Button variant="default" onClick={() => setOpen('import')}>
              {t.import}
            </Button>
            <Button leftSection={<IconPlus size={16} />} onClick={() => setOpen('add')}>
              {t.add}
            </Button>
          </>
        )
      }
    >
      <Entries onAdd={() => setOpen('add')} onEdit={entry => setOpen({ edit: entry })} onRemove={remove} />
      <Dialogs>
        {open === 'add' && <AddDialog onClose={close} />}
        {open === 'import' && <ImportDialog onClose={close} />}
        {open !== null && typeof open === 'object' && (
          <EditDialog entry={open.edit} onClose={close} onRemove={() => remove([open.edit])} />
        )}
        <RemoveDialog removal={removal} />
      </Dialogs>
    </Page>
  )
}

/** Everything that the empty list offers is there before it is shown, so that nothing moves afterwards. */
const useEntries = () => {
  const search = useSearch({ from: '/inside/whitelist' })
  const page = search.page ?? 1
  const query = useQuery(whitelistQuery({ page, ...(search.search ? { search: search.search } : {}) }))
  const rows = query.data?.whitelist
  const isEmpty = rows?.length === 0 && !search.search && page === 1
  const servers = useQuery({ ...serversQuery({ page: 1 }), enabled: isEmpty })
  return { search, page, query, rows, waits: isEmpty && !hasAnswered(servers) }
}

const Entries = (props: {
  onAdd: () => void
  onEdit: (entry: Entry) => void
  onRemove: (entries: readonly Entry[], done?: () => void) => void
}) => {
  const { onAdd, onEdit, onRemove } = props
  const t = textsOf(whitelistTexts)
  const navigate = useNavigate()
  const { may } = useMay('write')
  const mine = useMe()?.ip_address ?? ''
  const { search, page, query, rows, waits } = useEntries()
  const selection = useSelection(JSON.stringify(search), rows ?? [], keyOf)
  const chosen = [...selection.chosen.values()]
  const isReady = rows !== undefined && !waits
  return (
    <div className={styles.beside}>
      <div className={styles.main}>
        <List
          what={t.what}
          caption={t.caption}
          columns={columnsOf({ mine, ...(may ? { onEdit } : {}) })}
          query={query}
          rows={rows}
          waits={waits}
          keyOf={keyOf}
          page={page}
          limit={whitelistLimit}
          total={query.data?.total ?? 0}
          onPage={to => void navigate({ to: '/whitelist', search: { ...search, page: to === 1 ? undefined : to } })}
          acts={may ? entry => <Acts entry={entry} onEdit={onEdit} onRemove={onRemove} /> : undefined}
          selection={may ? { ...selection, nameOf: ({ ip }) => ip } : undefined}
          foot={<Exports />}
          empty={<EmptyWhitelist onAdd={onAdd} />}
          noMatch={t.noMatch}
          filters={search.search ? [{ text: search.search, onRemove: () => void navigate({ to: '/whitelist' }) }] : []}
          onClear={() => void navigate({ to: '/whitelist', search: {} })}
        />
      </div>
      {(isReady || query.isError) && (
        <div className={styles.main}>
          <SyncPanel />
          <NamesPanel />
        </div>
      )}
      {may && chosen.length > 0 && (
        <SelectionBar count={t.selected(number(chosen.length), chosen.length)} onClear={selection.clear}>
          <SmallButton onClick={() => onRemove(chosen, selection.clear)}>{t.remove}</SmallButton>
        </SelectionBar>
      )}
    </div>
  )
}

const Acts = (props: {
  entry: Entry
  onEdit: (entry: Entry) => void
  onRemove: (entries: readonly Entry[]) => void
}) => {
  const t = textsOf(whitelistTexts)
  const { entry, onEdit, onRemove } = props
  return (
    <>
      <SmallButton aria-label={t.editOf(entry.ip)} onClick={() => onEdit(entry)}>
        {t.edit}
      </SmallButton>
      <SmallButton aria-label={t.removeOf(entry.ip)} onClick={() => onRemove([entry])}>
        {t.remove}
      </SmallButton>
    </>
  )
}
