import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { CallInput } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { checkQuery } from '../fleet/queries.ts'
import { WhitelistReceipt } from '../fleet/receipts.tsx'
import { tellWhitelisted } from '../fleet/undo.ts'
import { DialogButtons } from '../../kit/dialog-buttons.tsx'
import { useForgotten, useKeptState } from '../../kit/draft.ts'
import { Field } from '../../kit/field.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { covers } from '../../lib/address.ts'
import { number } from '../../lib/numbers.ts'
import { isWide, readLines, sizeOf } from './lines.ts'
import type { ReadLines } from './lines.ts'
import { EndChoice } from './end-choice.tsx'
import { endAt, noEnd } from './ends.ts'
import { endsTexts } from './ends.texts.ts'
import { whitelistTexts } from './whitelist.texts.ts'
import styles from './whitelist.module.css'

/** Adds one entry or many; says first how many addresses that are, and which bans it lifts. */
const AddDialog = ({ given = '', onClose }: { given?: string; onClose: () => void }) => (
  <Dialog title={textsOf(whitelistTexts).dialog.title} onClose={onClose}>
    <Form given={given} onClose={onClose} />
  </Dialog>
)
export default AddDialog

const useAdd = () =>
  useMutation({
    mutationFn: async (entries: readonly CallInput<'POST /whitelist'>['body'][]) => {
      const [only] = entries
      // A single entry is sent alone, so that a duplicate is reported.
      if (entries.length === 1 && only) {
        const entry = await api.call('POST /whitelist', { body: only })
        tellWhitelisted([entry])
        return { added: 1, asked: 1 }
      }
      const { added, entries: listed } = await api.call('POST /whitelist/bulk', { body: { entries: [...entries] } })
      tellWhitelisted(listed)
      return { added, asked: entries.length }
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['whitelist'] })
      void queries.invalidateQueries({ queryKey: ['lookup'] })
    },
  })

const Form = ({ given, onClose }: { given: string; onClose: () => void }) => {
  const t = textsOf(whitelistTexts).dialog
  const draft = `whitelist ${given}`
  const [typed, setTyped] = useKeptState(`${draft}/entries`, given)
  const [end, setEnd] = useKeptState(`${draft}/end`, noEnd)
  // Whether the end was over when it was sent.
  const [late, setLate] = useState(false)
  const [again, setAgain] = useState('')
  const [tried, setTried] = useState(false)
  const { entries, wrong } = readLines(typed)
  const wide = entries.find(({ ip }) => isWide(ip))
  const add = useAdd()
  useForgotten(draft, add.isSuccess)
  const sure = !wide || again.trim() === wide.ip
  const submit = () => {
    setTried(true)
    const expires_at = endAt(end)
    setLate(expires_at === undefined)
    if (entries.length > 0 && wrong.length === 0 && sure && expires_at !== undefined && !add.isPending)
      add.mutate(entries.map(entry => (expires_at ? { ...entry, expires_at } : entry)))
  }
  if (add.data) return <Added {...add.data} since={add.submittedAt} onClose={onClose} />
  const missing = tried && entries.length === 0 && wrong.length === 0 ? t.none : undefined
  return (
    <PlainForm onSubmit={submit}>
      <Lines value={typed} onValue={setTyped} error={missing ?? fieldProblem(add.error, 'ip')} />
      {tried && <WrongLines wrong={wrong} />}
      <EndChoice
        value={end}
        onValue={value => {
          setEnd(value)
          setLate(false)
        }}
        error={(late ? textsOf(endsTexts).invalid : undefined) ?? fieldProblem(add.error, 'expires_at')}
      />
      {entries.length > 0 && <Consequence entries={entries.map(({ ip }) => ip)} />}
      {wide && (
        <TextField
          label={t.wide(wide.ip)}
          error={tried && !sure ? t.wideWrong : undefined}
          value={again}
          onValue={setAgain}
          dir="ltr"
        />
      )}
      <Refusal error={add.error} />
      <DialogButtons verb={t.submit} isRunning={add.isPending} onCancel={onClose} />
    </PlainForm>
  )
}

const Added = (props: { added: number; asked: number; since: number; onClose: () => void }) => {
  const t = textsOf(whitelistTexts).dialog
  const { added, asked } = props
  return (
    <div className={parts.form}>
      <p role="status">
        {t.added(added)} {asked > added && t.skipped(asked - added)}
      </p>
      <WhitelistReceipt since={props.since} list />
      <div className={parts.row}>
        <Button onClick={props.onClose}>{t.done}</Button>
      </div>
    </div>
  )
}

const Lines = (props: { value: string; onValue: (value: string) => void; error: string | undefined }) => {
  const t = textsOf(whitelistTexts).dialog
  return (
    <Field label={t.lines} help={t.help} error={props.error}>
      {ids => (
        <textarea
          {...ids}
          className={`${parts.input ?? ''} ${styles.lines ?? ''}`}
          rows={Math.min(10, Math.max(3, props.value.split('\n').length + 1))}
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          dir="ltr"
          data-autofocus
          value={props.value}
          onChange={event => props.onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

const WrongLines = ({ wrong }: Pick<ReadLines, 'wrong'>) => {
  const t = textsOf(whitelistTexts).dialog
  const firstErrors = wrong.slice(0, 5)
  if (wrong.length === 0) return null
  return (
    <div role="alert">
      <ul className={styles.wrong}>
        {firstErrors.map(({ line, text }) => (
          <li key={line}>{t.wrong(line, text.slice(0, 80))}</li>
        ))}
        {wrong.length > firstErrors.length && <li>{t.andMore(wrong.length - firstErrors.length)}</li>}
      </ul>
    </div>
  )
}

/** What the entry means: its size, the bans that it lifts, and what covers it already. */
const Consequence = ({ entries }: { entries: readonly string[] }) => {
  const t = textsOf(whitelistTexts).dialog
  const [only = ''] = entries
  const one = entries.length === 1
  const bans = useQuery({
    queryKey: ['bans', 'covered', only],
    queryFn: ({ signal }) => api.call('GET /bans', { query: { ip: only, active: true, limit: 1 }, signal }),
    enabled: one,
  }).data?.total
  // Of a range its first address is asked for: what covers the range covers that too.
  const entry = useQuery({ ...checkQuery(only.split('/')[0] ?? ''), enabled: one }).data?.matched_entry
  if (!one) return <p className={parts.help}>{t.many(entries.length)}</p>
  const size = sizeOf(only)
  return (
    <p className={bans ? parts.warn : parts.help} role="status">
      {size !== null && t.holds(number(size), size)}{' '}
      {bans !== undefined && (bans === 0 ? t.liftsNone : t.lifts(number(bans), bans))}{' '}
      {entry && (covers(entry.ip, only) ? t.within(entry.ip, entry.description) : t.around(entry.ip))}
    </p>
  )
}
