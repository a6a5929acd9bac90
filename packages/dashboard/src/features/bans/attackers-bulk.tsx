import { lazy, useEffect, useRef, useState } from 'react'
import { Button } from '@mantine/core'
import type { Ban } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { CancelButton } from '../../kit/dialog-buttons.tsx'
import { announce } from '../../kit/announce.tsx'
import { Dialogs } from '../../kit/dialogs.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import type { Attacker } from './attackers-list.ts'
import { attackersTexts } from './attackers.texts.ts'
import { bansTexts } from './bans.texts.ts'
import type { BansSearch } from './filter.ts'
import { mostAtOnce } from './selection.ts'
import type { AttackerSelection } from './selection.ts'
import { SelectionBar } from '../../kit/selection-bar.tsx'

const BulkDialog = lazy(() => import('./bulk-dialog.tsx'))
const WhitelistDialog = lazy(() => import('../whitelist/add-dialog.tsx'))

type What = 'unban' | 'ban' | 'report' | 'export'

/** Reads what does not fit into a page, says how far it is, and can be stopped. */
const useReading = () => {
  const running = useRef<AbortController>(null)
  const [read, setRead] = useState<number | null>(null)
  const [error, setError] = useState<unknown>(null)
  useEffect(() => () => running.current?.abort(), [])
  const start = async (work: (signal: AbortSignal, onRead: (count: number) => void) => Promise<void>) => {
    const stop = new AbortController()
    running.current = stop
    setError(null)
    setRead(0)
    try {
      await work(stop.signal, setRead)
    } catch (problem) {
      if (!stop.signal.aborted) setError(problem)
    }
    setRead(null)
  }
  return { read, error, start, stop: () => running.current?.abort() }
}

/** What is done with the selected attackers, and to how many. */
export const AttackerBulk = (props: {
  search: BansSearch
  rows: readonly Attacker[]
  total: number
  selection: AttackerSelection
}) => {
  const { search, rows, total, selection } = props
  const t = textsOf(attackersTexts)
  const reading = useReading()
  /* As they were when the dialog opened: what it does must not change while it is read. */
  const [doing, setDoing] = useState<{ what: What; bans: readonly Ban[]; ips: readonly string[] } | null>(null)
  const [listed, setListed] = useState<readonly string[] | null>(null)
  const chosen = [...selection.chosen.values()]
  if (chosen.length === 0 && !doing && !listed) return null
  const ips = chosen.map(({ ip }) => ip)
  const inForce = chosen.reduce((sum, { active_bans }) => sum + active_bans, 0)
  const open = (what: What) =>
    void reading.start(async (signal, onRead) => {
      const { collectOf } = await import('./bulk.ts')
      setDoing({ what, ips, bans: await collectOf(ips, what === 'unban' || what === 'ban', signal, onRead) })
    })
  const selectAll = () =>
    void reading.start(async (signal, onRead) => {
      const { collectAttackers } = await import('./bulk.ts')
      const attackers = await collectAttackers(search, total, signal, onRead)
      selection.set(attackers, true)
      announce(t.count(number(attackers.length), attackers.length))
    })
  const canSelectMore = total > rows.length && chosen.length < Math.min(total, mostAtOnce)
  return (
    <>
      {chosen.length > 0 && (
        <SelectionBar
          count={t.count(number(chosen.length), chosen.length)}
          about={inForce > 0 ? t.inForce(number(inForce), inForce) : undefined}
          onClear={selection.clear}
          all={
            canSelectMore &&
            reading.read === null && (
              <button type="button" className={parts.quiet} onClick={selectAll}>
                {total > mostAtOnce ? t.selectNewest(number(mostAtOnce), number(total)) : t.selectAll(number(total))}
              </button>
            )
          }
        >
          {reading.read !== null ? (
            <>
              <span className={parts.muted}>{t.reading(number(reading.read))}</span>
              <CancelButton onClick={reading.stop} />
            </>
          ) : (
            <Verbs inForce={inForce} onVerb={open} onList={() => setListed(ips)} />
          )}
          <Refusal error={reading.error} />
        </SelectionBar>
      )}
      <Dialogs>
        {listed && <WhitelistDialog given={listed.join('\n')} onClose={() => setListed(null)} />}
        {doing && (
          <BulkDialog {...doing} addresses={doing.ips.length} onRun={selection.clear} onClose={() => setDoing(null)} />
        )}
      </Dialogs>
    </>
  )
}

const Verbs = (props: { inForce: number; onVerb: (what: What) => void; onList: () => void }) => {
  const { inForce, onVerb, onList } = props
  const t = textsOf(attackersTexts)
  const { bulk } = textsOf(bansTexts)
  const { may } = useMay('write')
  return (
    <>
      {may && inForce > 0 && (
        <Button variant="default" onClick={() => onVerb('unban')}>
          {t.unban}…
        </Button>
      )}
      {may && (
        <>
          <Button variant="default" onClick={onList}>
            {bulk.whitelist}
          </Button>
          <Button variant="default" onClick={() => onVerb('ban')}>
            {t.ban}
          </Button>
          <Button variant="default" onClick={() => onVerb('report')}>
            {bulk.report}
          </Button>
        </>
      )}
      <Button variant="default" onClick={() => onVerb('export')}>
        {bulk.export}
      </Button>
    </>
  )
}
