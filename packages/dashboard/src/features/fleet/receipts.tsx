import { useEffect, useState } from 'react'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import parts from '../../kit/parts.module.css'
import { Receipt, ToneMark } from '../../kit/receipt.tsx'
import { isSettled, phaseOf } from '../../kit/receipt-state.ts'
import type { ReceiptPhase } from '../../kit/receipt-state.ts'
import styles from '../../kit/receipt.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { toneOf } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { TimeSentence } from '../../kit/time.tsx'
import type { ReceiptOf } from '../../kit/toasts.ts'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { failedOf, orderAgain, pendingOf } from './batch.ts'
import { fleetTexts } from './fleet.texts.ts'
import { notesOfReceipt, sentenceOfReceipt } from './receipt-words.ts'
import { useOffline, useReceipt } from './receipt.ts'
import type { ReceiptFacts, ReceiptRow } from './receipt.ts'
import { useSaid } from './said.ts'
import { agreed } from './ssh-asked.ts'
import { tookOf, tookWords } from './took.ts'

/** The jails that a request concerns on each server, by the server's id. */
export type JailsByServer = ReadonlyMap<string, readonly string[]>

const never = new AbortController().signal

/** Cancels what no server has fetched, and retries what failed; the retry is a batch of its own, which is then followed. */
const useReceiptActs = (of: ReceiptOf, { counts }: ReceiptFacts, onFollow: (batchId: string) => void) => {
  const cancel = useMutation({
    mutationFn: async () => {
      const open = counts.total - counts.done - counts.failed - counts.cancelled
      const ids = 'batchId' in of ? await pendingOf(of.batchId, open, never) : 'commandId' in of ? [of.commandId] : []
      if (ids.length > 0) await api.call('POST /commands/cancel', { body: { ids: [...ids] } })
    },
    onSettled: () =>
      Promise.all(['commands', 'command', 'batch'].map(key => queries.invalidateQueries({ queryKey: [key] }))),
  })
  const retry = useMutation({
    mutationFn: async () => {
      if (!('batchId' in of)) return []
      const rows = await failedOf(of.batchId, counts.failed, never)
      return (await agreed(rows)) ? orderAgain(rows, never) : []
    },
    // Of more than one new batch the first is followed here.
    onSuccess: ([first]) => {
      void queries.invalidateQueries({ queryKey: ['commands'] })
      if (first) onFollow(first.batchId)
    },
  })
  return { cancel, retry }
}

const ReceiptActs = (props: {
  of: ReceiptOf
  facts: ReceiptFacts
  phase: ReceiptPhase
  acts: ReturnType<typeof useReceiptActs>
  /** In a toast, whose Undo cancels too. */
  retryOnly?: boolean
}) => {
  const { of, facts, phase, acts, retryOnly = false } = props
  const t = textsOf(fleetTexts).receipt
  const { may } = useMay('write')
  if (!may || !('batchId' in of)) return null
  const { total, done, failed, cancelled } = facts.counts
  const open = total - done - failed - cancelled
  const canRetry = failed > 0 && isSettled(phase)
  const canCancel = open > 0 && !retryOnly
  if (!canCancel && !canRetry) return null
  return (
    <>
      {canRetry && (
        <SmallButton loading={acts.retry.isPending} onClick={() => acts.retry.mutate()}>
          {t.retry(failed)}
        </SmallButton>
      )}
      {canCancel && (
        <SmallButton loading={acts.cancel.isPending} onClick={() => acts.cancel.mutate()}>
          {done + failed > 0 ? t.cancelRest : textsOf(commonTexts).cancel}
        </SmallButton>
      )}
    </>
  )
}

const mostListed = 100
/** What needs a person stands first. */
const urgency = { failed: 0, timeout: 0, pending: 1, running: 2, completed: 3 } as const
/** Of a row: the jails where they are known. */
const jailsOfRow = ({ params, server }: ReceiptRow, jails: JailsByServer | undefined): readonly string[] => {
  const jail = params && 'jail' in params ? params.jail : undefined
  return typeof jail === 'string' && jail !== '*' ? [jail] : (jails?.get(server.id) ?? [])
}

/** One line a server: what became of it, in which jails, and how long it took. */
const ReceiptServers = ({ facts, jails }: { facts: ReceiptFacts; jails?: JailsByServer | undefined }) => {
  const t = textsOf(fleetTexts).receipt
  const { total } = facts.counts
  const listedRows = [...facts.rows].sort((a, b) => urgency[a.status] - urgency[b.status]).slice(0, mostListed)
  return (
    // It scrolls where it is long, so the keyboard has to reach it.
    <ul className={styles.servers} tabIndex={listedRows.length > 7 ? 0 : undefined} aria-label={t.servers}>
      {listedRows.map(row => (
        <ReceiptServer
          key={row.id}
          row={row}
          jails={jailsOfRow(row, jails)}
          isLater={facts.later.some(({ id }) => id === row.id)}
        />
      ))}
      {total > listedRows.length && <li className={parts.help}>{t.more(total - listedRows.length)}</li>}
    </ul>
  )
}
const ReceiptServer = (props: { row: ReceiptRow; jails: readonly string[]; isLater: boolean }) => {
  const { row, jails, isLater } = props
  const t = textsOf(fleetTexts).receipt
  const since = useOffline().get(row.server.id)
  const took = tookOf(row)
  const is = row.cancelled ? 'cancelled' : row.status
  return (
    <li>
      <span className={styles.mark} data-tone={toneOf(is)}>
        <ToneMark tone={toneOf(is)} turning={is === 'running'} />
      </span>
      <span className={styles.name}>
        <Stranger text={row.server.hostname} most={60} />
      </span>
      <span className={styles.detail}>
        <Stranger text={jails.join(', ')} most={100} />
      </span>
      {isLater && since ? (
        <span className={parts.help}>
          <TimeSentence at={since} say={t.offlineSince} />
        </span>
      ) : (
        <span className={is === 'completed' && took !== null ? parts.hidden : parts.help}>
          {textsOf(commonTexts).states[is]}
        </span>
      )}
      {is === 'completed' && took !== null && <span className={parts.help}>{tookWords(took)}</span>}
    </li>
  )
}

/** The receipt of a batch in a dialog or on its page. `list`: with its servers. `here`: on the page of the batch itself. */
export const BatchReceipt = (props: {
  batchId: string
  here?: boolean
  list?: boolean
  /** What was asked for every jail concerns these. */
  jails?: JailsByServer
  onSettled?: () => void
}) => {
  const { here = false, list = false, jails, onSettled } = props
  const t = textsOf(fleetTexts).receipt
  const [batchId, setBatchId] = useState(props.batchId)
  const of = { batchId }
  const facts = useReceipt(of)
  const phase = phaseOf(facts.counts)
  const acts = useReceiptActs(of, facts, setBatchId)
  const settled = isSettled(phase)
  useEffect(() => {
    if (settled) onSettled?.()
  }, [settled, onSettled])
  return (
    <div className={here ? undefined : styles.well}>
      <div role="status" aria-label={t.label}>
        <Receipt
          counts={facts.counts}
          label={t.label}
          sentence={sentenceOfReceipt(facts, false)}
          notes={notesOfReceipt(facts, !here)}
          acts={here ? undefined : <ReceiptActs of={of} facts={facts} phase={phase} acts={acts} />}
        />
      </div>
      {list && facts.counts.total > 1 && <ReceiptServers facts={facts} jails={jails} />}
      <Refusal error={acts.cancel.error ?? acts.retry.error} />
      {!here && (
        <Link to="/batches/$batchId" params={{ batchId }} search={{}} className={parts.link}>
          {t.toBatch}
        </Link>
      )}
    </div>
  )
}

/** The receipt of a change of the whitelist, with the servers where there is room for them. */
export const WhitelistReceipt = ({ since, list = false }: { since: number; list?: boolean }) => (
  <StateReceipt of={{ whitelistSince: since }} list={list} />
)

/** The receipt of a fleet ban with its servers. */
export const FleetBanReceipt = ({ id }: { id: number }) => <StateReceipt of={{ fleetBanId: id }} list />

/** The receipt of what servers fetch by themselves: there is nothing to cancel or to retry. */
const StateReceipt = ({ of, list }: { of: ReceiptOf; list: boolean }) => {
  const t = textsOf(fleetTexts).receipt
  const facts = useReceipt(of)
  if (facts.isMissing) return null
  return (
    <div className={list ? styles.well : undefined}>
      <div role="status" aria-label={t.label}>
        <Receipt
          counts={facts.counts}
          label={t.label}
          sentence={sentenceOfReceipt(facts, false)}
          notes={notesOfReceipt(facts)}
        />
      </div>
      {list && facts.counts.total > 1 && <ReceiptServers facts={facts} />}
    </div>
  )
}

/** The receipt in a toast or in the activity, which names what was asked. `going`: what it says until it settles. */
export const NamedReceipt = (props: {
  of: ReceiptOf
  going?: string
  onPhase?: (phase: ReceiptPhase | 'missing') => void
}) => {
  const { going, onPhase } = props
  const [of, setOf] = useState(props.of)
  const facts = useReceipt(of)
  const phase = facts.isMissing ? 'missing' : phaseOf(facts.counts)
  const acts = useReceiptActs(of, facts, batchId => setOf({ batchId }))
  useEffect(() => {
    onPhase?.(phase)
  }, [phase, onPhase])
  const shownPhase = phaseOf(facts.counts)
  const isGoing = !isSettled(shownPhase) || (shownPhase === 'rest-later' && facts.counts.done === 0)
  const outputWords = useSaid(facts.sample?.type === 'deploy-template')
  const sentence = going !== undefined && isGoing ? going : sentenceOfReceipt(facts, true, outputWords)
  return (
    <Receipt
      counts={facts.counts}
      label={textsOf(fleetTexts).receipt.label}
      sentence={sentence}
      notes={notesOfReceipt(facts)}
      acts={<ReceiptActs of={of} facts={facts} phase={shownPhase} acts={acts} retryOnly={going !== undefined} />}
    />
  )
}
