import { lazy, useRef, useState } from 'react'
import { Button } from '@mantine/core'
import type { Ban } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { announce } from '../../kit/announce.tsx'
import { Dialogs } from '../../kit/dialogs.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
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
interface Doing {
  readonly what: What
  readonly bans: readonly Ban[]
}

/** What is done with the chosen ones, and to how many. */
export const BulkBar = (props: { search: BansSearch; rows: readonly Ban[]; total: number }) => {
  const t = textsOf(bansTexts)
  const selection = useSelecting()
  /* As they were when a dialog opened: what it does must not change while it is read. */
  const [doing, setDoing] = useState<Doing | null>(null)
  const chosen = [...(selection?.chosen.values() ?? [])]
  if (!selection || (chosen.length === 0 && !doing)) return null
  return (
    <>
      {chosen.length > 0 && (
        <SelectionBar
          count={t.bulk.chosen(number(chosen.length), chosen.length)}
          onClear={selection.clear}
          all={<SelectAll {...props} />}
        >
          <Verbs chosen={chosen} onChosen={what => setDoing({ what, bans: chosen })} />
        </SelectionBar>
      )}
      <Dialogs>{doing && <DialogOf doing={doing} onRun={selection.clear} onClose={() => setDoing(null)} />}</Dialogs>
    </>
  )
}

const stillBanned = (bans: readonly Ban[]) => bans.filter(({ active }) => active)

const Verbs = ({ chosen, onChosen }: { chosen: readonly Ban[]; onChosen: (what: What) => void }) => {
  const t = textsOf(bansTexts).bulk
  const { may } = useMay('write')
  const still = addressesOf(stillBanned(chosen)).length
  const words: readonly (readonly [What, string])[] = [
    ...(may && still > 0 ? ([['unban', t.unban(number(still))]] as const) : []),
    ...(may
      ? ([
          ['whitelist', t.whitelist],
          ['ban', t.ban],
          ['report', t.report],
        ] as const)
      : []),
    ['export', t.export],
  ]
  return words.map(([what, text]) => (
    <Button key={what} variant="default" onClick={() => onChosen(what)}>
      {text}
    </Button>
  ))
}

const DialogOf = (props: { doing: Doing; onRun: () => void; onClose: () => void }) => {
  const { what, bans } = props.doing
  if (what === 'whitelist') return <WhitelistDialog given={addressesOf(bans).join('\n')} onClose={props.onClose} />
  const concerned = what === 'unban' ? stillBanned(bans) : bans
  return (
    <BulkDialog
      what={what}
      bans={bans}
      addresses={addressesOf(concerned).length}
      onRun={props.onRun}
      onClose={props.onClose}
    />
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
        <SmallButton onClick={() => running.current?.abort()}>{textsOf(commonTexts).cancel}</SmallButton>
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
