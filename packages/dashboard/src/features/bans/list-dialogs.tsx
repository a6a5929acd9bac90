import { useState } from 'react'
import { Button } from '@mantine/core'
import { useRouter, useSearch } from '@tanstack/react-router'
import { urlOf } from '@stockade/client'
import { CloseButton } from '../../kit/dialog-buttons.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { usePreferences } from '../../kit/preferences.ts'
import { ownAddress } from '../../lib/place.ts'
import { copyValue } from '../../kit/search/value-menu.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { number } from '../../lib/numbers.ts'
import { preferences } from '../../lib/preferences.ts'
import { useFilter } from './narrowing.tsx'
import { bansTexts } from './bans.texts.ts'
import { allColumns, columnsOf, usualColumns } from './columns.ts'
import { beginning } from '../../lib/ranges.ts'
import { limitOf, matchQueryOf } from './filter.ts'
import styles from './bans.module.css'

/** Which columns are shown, and how many rows; and the address of what is shown. */
export const ViewDialog = ({ narrow, onClose }: { narrow: boolean; onClose: () => void }) => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  const router = useRouter()
  const { columns } = usePreferences()
  const visibleColumns = columnsOf(search.cols ?? columns.bans) ?? usualColumns
  /** In the address, so that links keep it; and with the user, for the next time. */
  const choose = (cols: string | undefined) => {
    const { bans: _before, ...others } = preferences.read().columns
    preferences.change({ columns: cols === undefined ? others : { ...others, bans: cols } })
    filter({ cols }, true)
  }
  const toggle = (column: (typeof allColumns)[number], on: boolean) => {
    const next = allColumns.filter(one => (one === column ? on : visibleColumns.includes(one)))
    if (next.length === 0) return
    const usual = next.length === usualColumns.length && next.every((one, index) => one === usualColumns[index])
    choose(usual ? undefined : next.join(','))
  }
  const link = (fixed: boolean) => {
    const now = Date.now()
    const to = search.to ?? new Date(now).toISOString()
    const times = { from: search.from ? beginning(search.from, Date.parse(to)) : undefined, to }
    const { href } = router.buildLocation({ to: '/bans', search: fixed ? { ...search, ...times } : search })
    void copyValue(new URL(href, location.origin).href)
  }
  return (
    <Dialog title={t.view} onClose={onClose}>
      <div className={parts.form}>
        {!narrow && (
          <fieldset className={styles.checks}>
            <legend>{t.columnsLabel}</legend>
            {allColumns.map(column => (
              <label key={column}>
                <input
                  type="checkbox"
                  checked={visibleColumns.includes(column)}
                  onChange={event => toggle(column, event.currentTarget.checked)}
                />
                {t.columns[column]}
              </label>
            ))}
          </fieldset>
        )}
        <fieldset className={styles.checks}>
          <legend>{t.perPage}</legend>
          {([50, 100] as const).map(size => (
            <label key={size}>
              <input
                type="radio"
                name="per-page"
                checked={limitOf(search) === size}
                onChange={() => filter({ limit: size === 100 ? 100 : undefined }, true)}
              />
              {size}
            </label>
          ))}
        </fieldset>
        <div className={parts.row}>
          <Button variant="default" onClick={() => link(false)}>
            {t.copyLink}
          </Button>
          <Button variant="default" onClick={() => link(true)}>
            {t.copyFixed}
          </Button>
        </div>
        <div className={parts.row}>
          {(search.cols ?? columns.bans) && (
            <Button variant="default" onClick={() => choose(undefined)}>
              {t.usualColumns}
            </Button>
          )}
          <Button onClick={onClose}>{textsOf(commonTexts).close}</Button>
        </div>
      </div>
    </Dialog>
  )
}

/** All that match, as a file that the service writes. */
export const ExportDialog = ({ total, onClose }: { total: number; onClose: () => void }) => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const [now] = useState(() => Date.now())
  // What arrives while the dialog is read is not part of the number that it says.
  const query = { ...matchQueryOf(search, now), to: search.to ?? new Date(now).toISOString() }
  return (
    <Dialog title={t.exportTitle(number(total), total)} onClose={onClose}>
      <div className={parts.form}>
        <p>{t.exportText}</p>
        <ul className={parts.form}>
          {(['csv', 'json', 'plain'] as const).map(format => (
            <li key={format}>
              <Button
                component="a"
                variant="default"
                href={urlOf(ownAddress, '/bans/export', {}, { ...query, format })}
                download
              >
                {t.formats[format]}
              </Button>{' '}
              <span className={parts.help}>{t.formatHelp[format]}</span>
            </li>
          ))}
        </ul>
        <div className={parts.row}>
          <CloseButton onClick={onClose} />
        </div>
      </div>
    </Dialog>
  )
}
