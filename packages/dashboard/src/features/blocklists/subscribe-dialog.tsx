import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { BlocklistSource } from '@stockade/contract'
import { api } from '../../api/client.ts'
import { TargetChoice, useTarget } from '../fleet/target-choice.tsx'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { blocklistsTexts } from './blocklists.texts.ts'
import { leftOutWords } from './columns.tsx'
import { presets } from './presets.ts'
import { readBlocklistsAgain } from './queries.ts'
import type { BlocklistPreview } from './queries.ts'
import styles from './blocklists.module.css'

type Kind = 'url' | 'countries' | 'networks'

const words = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean)

/** What is typed, and what the API takes of it. */
const useTyped = () => {
  const target = useTarget()
  const [choice, setChoice] = useState<string>(presets[0]?.name ?? 'url')
  const [url, setUrl] = useState('')
  const [codes, setCodes] = useState('')
  const [asns, setAsns] = useState('')
  const [given, setName] = useState<string>()
  const preset = presets.find(({ name }) => name === choice)
  const kind: Kind = preset ? 'url' : (choice as Kind)
  const sources: Readonly<Record<Kind, BlocklistSource>> = {
    url: { kind: 'url', url: preset?.url ?? url.trim() },
    countries: { kind: 'countries', countries: words(codes.toUpperCase()) },
    networks: { kind: 'networks', asns: words(asns).map(text => Number(text.replace(/^AS/i, ''))) },
  }
  const typed = { url: preset?.url ?? url, countries: codes, networks: asns }[kind]
  return {
    ...{ target, choice, setChoice, url, setUrl, codes, setCodes, asns, setAsns, preset, kind, setName },
    name: given ?? preset?.name ?? '',
    source: sources[kind],
    isFilled: typed.trim() !== '',
  }
}
type Typed = ReturnType<typeof useTyped>

/** Subscribes to a list, after a look at what it would hold. A new list only counts. */
const SubscribeDialog = ({ onClose }: { onClose: () => void }) => {
  const t = textsOf(blocklistsTexts).dialog
  const typed = useTyped()
  const [isTried, setTried] = useState(false)
  const preview = useMutation({
    mutationFn: () => api.call('POST /lists/preview', { body: { source: typed.source } }),
  })
  const subscribe = useMutation({
    mutationFn: () =>
      api.call('POST /lists', {
        body: {
          name: typed.name.trim(),
          source: typed.source,
          target: typed.target.input ?? {},
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
    <Dialog title={t.title} onClose={onClose}>
      <form
        className={parts.form}
        noValidate
        onSubmit={event => {
          event.preventDefault()
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
        <div className={parts.row}>
          <Button type="submit" loading={subscribe.isPending}>
            {t.submit}
          </Button>
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
          <Button variant="default" onClick={onClose}>
            {textsOf(commonTexts).cancel}
          </Button>
        </div>
      </form>
    </Dialog>
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
      {!typed.preset && typed.kind === 'url' && (
        <TextField
          label={t.url}
          help={t.urlHelp}
          most={2000}
          kind="url"
          dir="ltr"
          value={typed.url}
          onValue={changed(typed.setUrl)}
          error={missing}
        />
      )}
      {typed.kind === 'countries' && (
        <TextField
          label={t.countryCodes}
          help={t.countryHelp}
          most={800}
          value={typed.codes}
          onValue={changed(typed.setCodes)}
          error={missing}
        />
      )}
      {typed.kind === 'networks' && (
        <TextField
          label={t.asns}
          help={t.asnsHelp}
          most={5000}
          value={typed.asns}
          onValue={changed(typed.setAsns)}
          error={missing}
        />
      )}
    </>
  )
}

const Preview = ({ found }: { found: BlocklistPreview }) => {
  const t = textsOf(blocklistsTexts)
  const { dialog } = t
  const { servers, whitelist, sessions, you } = found.conflicts
  const yours = [...servers, ...whitelist]
  const share = `${found.share_percent < 0.01 ? '< 0.01' : found.share_percent.toFixed(2)} %`
  return (
    <div className={styles.preview} role="status">
      <b>{dialog.size(number(found.entries), number(found.addresses), share)}</b>
      {found.samples.length > 0 && <span dir="auto">{dialog.samples(found.samples.slice(0, 3).join(', '))}</span>}
      <span className={parts.muted}>
        {t.columns.leftOut}: {leftOutWords(found.left_out)}
      </span>
      {yours.length > 0 && <span>{dialog.yours(yours.join(', '))}</span>}
      {sessions > 0 && <span>{dialog.sessions(sessions)}</span>}
      {you && <strong>{dialog.you}</strong>}
    </div>
  )
}
