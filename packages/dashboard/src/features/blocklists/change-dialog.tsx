import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { BlocklistFormat, BlocklistMode } from '@stockade/contract'
import { keysOf, pick } from '@stockade/contract/records.ts'
import { api } from '../../api/client.ts'
import { TargetChoice, useTarget } from '../fleet/target-choice.tsx'
import { binding } from '../../kit/binding.ts'
import { DialogButtons } from '../../kit/dialog-buttons.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import { useKept } from '../../kit/draft.ts'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { duration } from '../../lib/time.ts'
import { blocklistsTexts } from './blocklists.texts.ts'
import { Preview } from './preview.tsx'
import { readBlocklistsAgain } from './queries.ts'
import type { Blocklist } from './queries.ts'
import { AllowedFields, SourceField, sourceOf, textOfSource } from './source-fields.tsx'
import type { Allowed } from './source-fields.tsx'

/** Seconds between two looks at the source that are offered. */
const intervals = [900, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 604_800]
const formats: readonly BlocklistFormat[] = ['auto', 'plain', 'spamhaus-json', 'hosts', 'csv']
const modes: readonly BlocklistMode[] = ['enforce', 'observe', 'off']

interface Typed extends Allowed {
  readonly name: string
  readonly source: string
  readonly format: BlocklistFormat
  readonly column: string
  readonly interval: number
  readonly mode: BlocklistMode
  readonly entries: string
  readonly addresses: string
  /** In percent. */
  readonly change: string
}
const typedOf = (list: Blocklist): Typed => ({
  name: list.name,
  source: textOfSource(list.source),
  format: list.format,
  column: list.column === null ? '' : String(list.column),
  interval: list.interval,
  mode: list.mode,
  entries: String(list.max_entries),
  addresses: String(list.max_addresses),
  change: String(Math.round(list.max_change * 10_000) / 100),
  allow_wide: list.allow_wide,
  allow_private: list.allow_private,
})

/** The number that is typed; undefined where it is none between the bounds. */
const wholeNumber = (text: string, least: number, most: number): number | undefined => {
  const value = /^\d{1,10}$/.test(text.trim()) ? Number(text) : NaN
  return value >= least && value <= most ? value : undefined
}
const percent = (text: string): number | undefined => {
  const value = /^\d{1,3}([.,]\d{1,2})?$/.test(text.trim()) ? Number(text.replace(',', '.')) : NaN
  return value <= 100 ? value : undefined
}
const mostEntries = 200_000
const mostAddresses = 2 ** 32
const mostColumns = 100

const problemsOf = (typed: Typed) => {
  const t = textsOf(blocklistsTexts).dialog
  const isCsv = typed.format === 'csv' && typed.column.trim() !== ''
  return {
    name: typed.name.trim() === '' ? t.missing : undefined,
    source: typed.source.trim() === '' ? t.missing : undefined,
    column: isCsv && wholeNumber(typed.column, 1, mostColumns) === undefined ? t.wrongColumn : undefined,
    entries: wholeNumber(typed.entries, 1, mostEntries) === undefined ? t.wrongEntries : undefined,
    addresses: wholeNumber(typed.addresses, 1, mostAddresses) === undefined ? t.wrongAddresses : undefined,
    change: percent(typed.change) === undefined ? t.wrongChange : undefined,
  }
}
type Problems = Partial<ReturnType<typeof problemsOf>>

const settingsOf = (typed: Typed, list: Blocklist) => ({
  name: typed.name.trim(),
  source: sourceOf(list.source.kind, typed.source),
  format: typed.format,
  column: typed.format === 'csv' ? (wholeNumber(typed.column, 1, mostColumns) ?? null) : null,
  interval: typed.interval,
  mode: typed.mode,
  max_entries: wholeNumber(typed.entries, 1, mostEntries) ?? list.max_entries,
  max_addresses: wholeNumber(typed.addresses, 1, mostAddresses) ?? list.max_addresses,
  max_change: Math.round((percent(typed.change) ?? 0) * 100) / 10_000,
  allow_wide: typed.allow_wide,
  allow_private: typed.allow_private,
})
/** Only what differs: a restricted operator need not send a target that stays as it is. */
const changesOf = (typed: Typed, list: Blocklist) => {
  const settings = settingsOf(typed, list)
  return pick(
    settings,
    keysOf(settings).filter(key => JSON.stringify(settings[key]) !== JSON.stringify(list[key])),
  )
}

/** Changes where a list comes from, what is done with it, where, and within which bounds. */
const ChangeDialog = ({ list, onClose }: { list: Blocklist; onClose: () => void }) => {
  const t = textsOf(blocklistsTexts).dialog
  const draft = `blocklist ${list.id}`
  const { typed, set: setTyped } = useKept(draft, typedOf(list))
  const [isTried, setTried] = useState(false)
  const target = useTarget(draft, list.target)
  const problems = problemsOf(typed)
  const isRight = Object.values(problems).every(problem => problem === undefined) && target.problem === undefined
  const preview = useMutation({
    mutationFn: () => {
      const { source, format, column, allow_wide, allow_private } = settingsOf(typed, list)
      const body = { source, format, column, allow_wide, ...(allow_private ? { allow_private } : {}) }
      return api.call('POST /lists/preview', { body })
    },
  })
  const save = useMutation({
    mutationFn: () =>
      api.call('PATCH /lists/{id}', {
        params: { id: list.id },
        body: { ...changesOf(typed, list), ...(target.isChanged && target.input ? { target: target.input } : {}) },
      }),
    onSuccess: () => {
      void readBlocklistsAgain()
      onClose()
    },
  })
  const act = (run: () => void) => {
    setTried(true)
    if (isRight && !save.isPending && !preview.isPending) run()
  }
  const set = (change: Partial<Typed>) => {
    setTyped(change)
    if (['source', 'format', 'column', 'allow_wide', 'allow_private'].some(key => key in change)) preview.reset()
  }
  return (
    <FormDialog title={t.changeTitle(list.name)} onClose={onClose} onSubmit={() => act(() => save.mutate())}>
      <Fields list={list} typed={typed} set={set} said={isTried ? problems : {}} error={save.error} />
      <TargetChoice target={target} error={isTried ? target.problem : undefined} />
      <Bounds typed={typed} set={set} said={isTried ? problems : {}} error={save.error} />
      {preview.data && <Preview found={preview.data} />}
      <Refusal error={save.error ?? preview.error} />
      <DialogButtons verb={textsOf(commonTexts).save} isRunning={save.isPending} onCancel={onClose}>
        <Button variant="default" loading={preview.isPending} onClick={() => act(() => preview.mutate())}>
          {t.preview}
        </Button>
      </DialogButtons>
    </FormDialog>
  )
}
export default ChangeDialog

interface Given {
  readonly typed: Typed
  readonly set: (change: Partial<Typed>) => void
  readonly said: Problems
  readonly error: unknown
}

const Fields = ({ list, typed, set, said, error }: Given & { list: Blocklist }) => {
  const t = textsOf(blocklistsTexts)
  const bind = binding({ typed, set, said, error })
  const { kind } = list.source
  const offered = [...new Set([...intervals, list.interval])].sort((a, b) => a - b)
  return (
    <>
      <TextField label={t.dialog.name} most={100} focus {...bind('name')} />
      <SourceField kind={kind} value={typed.source} onValue={source => set({ source })} error={said.source} />
      {kind === 'url' && (
        <SelectField
          label={t.dialog.format}
          value={typed.format}
          onValue={format => set({ format })}
          options={formats.map(value => ({ value, text: t.dialog.formats[value] }))}
        />
      )}
      {kind === 'url' && typed.format === 'csv' && (
        <TextField
          label={t.dialog.column}
          help={t.dialog.columnHelp}
          most={3}
          kind="numeric"
          value={typed.column}
          onValue={column => set({ column })}
          error={said.column}
        />
      )}
      <SelectField
        label={t.dialog.interval}
        value={typed.interval}
        onValue={interval => set({ interval })}
        options={offered.map(value => ({ value, text: duration(value) }))}
      />
      <SelectField
        label={t.columns.mode}
        value={typed.mode}
        onValue={mode => set({ mode })}
        options={modes.map(value => ({ value, text: t.modes[value] }))}
      />
      {kind === 'url' && <AllowedFields value={typed} onValue={set} />}
    </>
  )
}

const Bounds = (given: Given) => {
  const t = textsOf(blocklistsTexts).dialog
  const bind = binding(given)
  return (
    <>
      <TextField
        label={t.maxEntries}
        help={t.maxEntriesHelp}
        most={6}
        kind="numeric"
        {...bind('entries', 'max_entries')}
      />
      <TextField label={t.maxAddresses} most={10} kind="numeric" {...bind('addresses', 'max_addresses')} />
      <TextField label={t.maxChange} help={t.maxChangeHelp} most={6} kind="decimal" {...bind('change', 'max_change')} />
    </>
  )
}
