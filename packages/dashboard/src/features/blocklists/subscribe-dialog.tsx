import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { keysOf, pick } from '@stockade/contract/records.ts'
import { api } from '../../api/client.ts'
import { TargetChoice, useTarget } from '../fleet/target-choice.tsx'
import { DialogButtons } from '../../kit/dialog-buttons.tsx'
import { useKeptState } from '../../kit/draft.ts'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { blocklistsTexts } from './blocklists.texts.ts'
import { presets } from './presets.ts'
import { Preview } from './preview.tsx'
import { readBlocklistsAgain } from './queries.ts'
import { AllowedFields, SourceField, sourceOf, sourceKinds } from './source-fields.tsx'
import type { Allowed, SourceKind } from './source-fields.tsx'
import styles from './blocklists.module.css'

const draft = 'new blocklist'

/** What is typed, and what the API takes of it. */
const useTyped = () => {
  const target = useTarget(draft)
  const [choice, setChoice] = useKeptState<string>(`${draft}/choice`, presets[0]?.name ?? 'url')
  /** Each kind keeps its text while another one is shown. */
  const [texts, setTexts] = useKeptState<Readonly<Record<SourceKind, string>>>(`${draft}/texts`, {
    ...{ url: '', countries: '', networks: '' },
  })
  /** Empty: the name of the preset. */
  const [given, setName] = useKeptState(`${draft}/name`, '')
  const [allowed, setAllowed] = useKeptState<Allowed>(`${draft}/allowed`, { allow_wide: false, allow_private: false })
  const preset = presets.find(({ name }) => name === choice)
  const kind = sourceKinds.find(known => known === choice) ?? 'url'
  const text = preset?.url ?? texts[kind]
  return {
    ...{ target, choice, setChoice, preset, kind, text, setName, allowed, setAllowed },
    /** What is not asked for is left out: only an administrator may send all of it. */
    consents: pick(
      allowed,
      keysOf(allowed).filter(key => kind === 'url' && allowed[key]),
    ),
    setText: (typed: string) => setTexts({ ...texts, [kind]: typed }),
    name: given || (preset?.name ?? ''),
    source: sourceOf(kind, text),
    isFilled: text.trim() !== '',
  }
}
type Typed = ReturnType<typeof useTyped>

/** Subscribes to a list, after a look at what it would hold. A new list only counts. */
const SubscribeDialog = ({ onClose }: { onClose: () => void }) => {
  const t = textsOf(blocklistsTexts).dialog
  const typed = useTyped()
  const [isTried, setTried] = useState(false)
  const preview = useMutation({
    mutationFn: () => api.call('POST /lists/preview', { body: { source: typed.source, ...typed.consents } }),
  })
  const subscribe = useMutation({
    mutationFn: () =>
      api.call('POST /lists', {
        body: {
          name: typed.name.trim(),
          source: typed.source,
          target: typed.target.input ?? {},
          ...typed.consents,
          ...(typed.preset ? { interval: typed.preset.interval } : {}),
        },
      }),
    onSuccess: () => {
      void readBlocklistsAgain()
      onClose()
    },
  })
  const isReady = typed.isFilled && typed.name.trim() !== '' && typed.target.problem === undefined
  return (
    <FormDialog
      title={t.title}
      onClose={onClose}
      onSubmit={() => {
        setTried(true)
        if (isReady && !subscribe.isPending) subscribe.mutate()
      }}
    >
      <SourceFields typed={typed} isTried={isTried} onChange={preview.reset} />
      <TextField
        label={t.name}
        most={100}
        value={typed.name}
        onValue={typed.setName}
        error={isTried && typed.name.trim() === '' ? t.missing : fieldProblem(subscribe.error, 'name')}
      />
      <TargetChoice target={typed.target} error={isTried ? typed.target.problem : undefined} />
      {preview.data && <Preview found={preview.data} />}
      <Refusal error={subscribe.error ?? preview.error} />
      <p className={parts.muted}>{t.first}</p>
      <DialogButtons verb={t.submit} isRunning={subscribe.isPending} onCancel={onClose}>
        <Button
          variant="default"
          loading={preview.isPending}
          onClick={() => {
            setTried(true)
            if (typed.isFilled) preview.mutate()
          }}
        >
          {t.preview}
        </Button>
      </DialogButtons>
    </FormDialog>
  )
}
export default SubscribeDialog

const SourceFields = ({ typed, isTried, onChange }: { typed: Typed; isTried: boolean; onChange: () => void }) => {
  const t = textsOf(blocklistsTexts).dialog
  const missing = isTried && !typed.isFilled ? t.missing : undefined
  const changed = (set: (text: string) => void) => (text: string) => {
    onChange()
    set(text)
  }
  return (
    <>
      <SelectField
        label={t.source}
        value={typed.choice}
        onValue={changed(typed.setChoice)}
        options={[
          ...presets.map(({ name }) => ({ value: name, text: name })),
          { value: 'url', text: t.own },
          { value: 'countries', text: t.countries },
          { value: 'networks', text: t.networks },
        ]}
      />
      {typed.preset && (
        <p className={styles.preview}>
          <code dir="ltr">{typed.preset.url}</code>
          <a href={typed.preset.terms} target="_blank" rel="noreferrer">
            {t.terms}
          </a>
        </p>
      )}
      {!typed.preset && (
        <SourceField kind={typed.kind} value={typed.text} onValue={changed(typed.setText)} error={missing} />
      )}
      {typed.kind === 'url' && (
        <AllowedFields
          value={typed.allowed}
          onValue={value => {
            onChange()
            typed.setAllowed(value)
          }}
        />
      )}
    </>
  )
}
