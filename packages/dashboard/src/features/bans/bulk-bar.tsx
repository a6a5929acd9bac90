import { Suspense, lazy, useRef, useState } from 'react'
import { Button } from '@mantine/core'
import type { Ban } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { announce } from '../../kit/announce.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { number } from '../../lib/numbers.ts'
import { bansTexts } from './bans.texts.ts'
import type { BansSearch } from './filter.ts'
import { addressesOf } from './bulk-rows.ts'
import { mostAtOnce, useSelecting } from './selection.ts'
import { SelectionBar } from '../../kit/selection-bar.tsx'

const BulkDialog = lazy(() => import('./bulk-dialog.tsx'))
const WhitelistDialog = lazy(() => import('../whitelist/add-dialog.tsx'))

type What = 'unban' | 'ban' | 'report' | 'export' | 'whitelist'

/** What is done with the chosen ones, and to how many. */
export const BulkBar = (props: { search: BansSearch; rows: readonly Ban[]; total: number }) => {
  const t = textsOf(bansTexts)
  const selection = useSelecting()
  const { may } = useMay('write')
  /* As they were when a dialog opened: what it does must not change while it is read. */
  const [doing, setDoing] = useState<{ what: What; bans: readonly Ban[] } | null>(null)
  const chosen = [...(selection?.chosen.values() ?? [])]
  if (!selection || (chosen.length === 0 && !doing)) return null
  const still = chosen.filter(({ active }) => active)
  const open = (what: What) => setDoing({ what, bans: chosen })
  return (
    <>
      {chosen.length > 0 && (
        <SelectionBar
          count={t.bulk.chosen(number(chosen.length), chosen.length)}
          onClear={selection.clear}
          all={<SelectAll {...props} />}
        >
          {may && (
            <>
              {still.length > 0 && (
                <Button variant="default" onClick={() => open('unban')}>
                  {t.bulk.unban(number(addressesOf(still).length))}
                </Button>
              )}
              <Button variant="default" onClick={() => open('whitelist')}>
                {t.bulk.whitelist}
              </Button>
              <Button variant="default" onClick={() => open('ban')}>
                {t.bulk.ban}
              </Button>
              <Button variant="default" onClick={() => open('report')}>
                {t.bulk.report}
              </Button>
            </>
          )}
          <Button variant="default" onClick={() => open('export')}>
            {t.bulk.export}
          </Button>
        </SelectionBar>
      )}
      {doing && (
        <Suspense>
          {doing.what === 'whitelist' ? (
            <WhitelistDialog given={addressesOf(doing.bans).join('\n')} onClose={() => setDoing(null)} />
          ) : (
            <BulkDialog
              what={doing.what}
              bans={doing.bans}
              addresses={
                addressesOf(doing.what === 'unban' ? doing.bans.filter(({ active }) => active) : doing.bans).length
              }
              onRun={selection.clear}
              onClose={() => setDoing(null)}
            />
          )}
        </Suspense>
      )}
    </>
  )
}

/** Beyond the page: all that match, as many as one run takes. */
const SelectAll = ({ search, rows, total }: { search: BansSearch; rows: readonly Ban[]; total: number }) => {
  const t = textsOf(bansTexts).bulk
  const selection = useSelecting()
  const running = useRef<AbortController>(null)
  const [read, setRead] = useState<number | null>(null)
  const [error, setError] = useState<unknown>(null)
  if (!selection) return null
  const most = Math.min(total, mostAtOnce)
  const wholePage = rows.length > 0 && rows.every(({ id }) => selection.chosen.has(id))
  const start = async () => {
    const stop = new AbortController()
    running.current = stop
    setError(null)
    setRead(0)
    try {
      const { collect } = await import('./bulk.ts')
      const bans = await collect(search, total, stop.signal, setRead)
      selection.set(bans, true)
      announce(t.chosen(number(bans.length), bans.length))
    } catch (problem) {
      if (!stop.signal.aborted) setError(problem)
    }
    setRead(null)
  }
  if (read !== null)
    return (
      <span className={parts.row}>
        <span className={parts.muted}>{t.reading(number(read), number(most))}</span>
        <Button size="compact-sm" variant="default" onClick={() => running.current?.abort()}>
          {textsOf(commonTexts).cancel}
        </Button>
      </span>
    )
  return (
    <>
      {wholePage && selection.chosen.size < most && (
        <button type="button" className={parts.quiet} onClick={start}>
          {total > mostAtOnce ? t.newest(number(most), number(total)) : t.all(number(total))}
        </button>
      )}
      <Refusal error={error} />
    </>
  )
}
