import { useState } from 'react'
import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { optionsQuery, queries } from '../../api/queries.ts'
import { announce } from '../../kit/announce.tsx'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Field } from '../../kit/field.tsx'
import { FileField } from '../../kit/form-fields.tsx'
import { formTexts } from '../../kit/form.texts.ts'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { clip } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { Choices } from '../identity/choices.tsx'
import { Confirm } from '../identity/dialogs.ts'
import { settingsQuery } from '../identity/queries.ts'
import identity from '../identity/identity.module.css'
import { backupTexts } from './backup.texts.ts'
import { changesOf, readExport, unknownOf } from './import-preview.ts'
import type { FieldName, Given, Sections } from './import-preview.ts'
import { saveFile } from './save-file.ts'
import { SettingsPage } from './settings-page.tsx'
import { settingsTexts } from './settings.texts.ts'
import styles from './settings.module.css'
import { asTyped } from './typed.ts'

const largest = 1024 * 1024

export const BackupSettings = () => (
  <SettingsPage title={textsOf(settingsTexts).backup}>
    <div className={identity.columns}>
      <Export />
      <Import />
    </div>
  </SettingsPage>
)

const Export = () => {
  const t = textsOf(backupTexts)
  const save = useMutation({
    mutationFn: () => api.call('GET /settings/export'),
    onSuccess: found => {
      saveFile(`${JSON.stringify(found, null, 2)}\n`, t.fileName(found.exported_at.slice(0, 10)))
      announce(t.exported)
    },
  })
  return (
    <Panel title={t.exportTitle}>
      <div className={parts.form}>
        <p className={parts.muted}>{t.exportText}</p>
        <div className={parts.row}>
          <Button leftSection={<IconDownload size={16} />} loading={save.isPending} onClick={() => save.mutate()}>
            {t.exportButton}
          </Button>
        </div>
        <Refusal error={save.error} />
      </div>
    </Panel>
  )
}

const Import = () => {
  const t = textsOf(backupTexts)
  const [content, setContent] = useState('')
  const [problem, setProblem] = useState<string>()
  const [given, setGiven] = useState<Given | null>(null)
  const [done, setDone] = useState(false)
  const choose = async (file: File) => {
    if (file.size > largest) return setProblem(t.tooLarge)
    setProblem(undefined)
    setContent(await file.text())
  }
  const look = () => {
    setDone(false)
    const read = readExport(content)
    setProblem(read ? undefined : t.notRead)
    setGiven(read)
  }
  if (given)
    return (
      <Panel title={t.importTitle}>
        <Preview
          given={given}
          onBack={() => setGiven(null)}
          onDone={() => {
            setGiven(null)
            setContent('')
            setDone(true)
          }}
        />
      </Panel>
    )
  return (
    <Panel title={t.importTitle}>
      <PlainForm onSubmit={look}>
        {done && <p className={parts.note}>{t.done}</p>}
        <Field label={t.content} help={t.contentHelp} error={problem}>
          {ids => (
            <textarea
              {...ids}
              className={`${parts.input ?? ''} ${styles.key ?? ''}`}
              rows={8}
              spellCheck={false}
              dir="ltr"
              maxLength={largest}
              value={content}
              onChange={event => setContent(event.currentTarget.value)}
            />
          )}
        </Field>
        <FileField label={t.file} accept=".json,application/json" onFile={file => void choose(file)} />
        <div className={parts.row}>
          <Button type="submit">{t.preview}</Button>
        </div>
      </PlainForm>
    </Panel>
  )
}

/** A value as the page of its setting shows it. */
const valueText = (name: FieldName, value: unknown): string => {
  const common = textsOf(formTexts)
  if (value === null) return textsOf(backupTexts).fromEnvironment
  if (typeof value === 'boolean') return value ? common.on : common.off
  if (name === 'security.session_timeout' && typeof value === 'number') return asTyped(value)
  if (typeof value === 'number') return number(value)
  return clip(typeof value === 'string' ? value : JSON.stringify(value), 200).shown
}

const Preview = ({ given, onBack, onDone }: { given: Given; onBack: () => void; onDone: () => void }) => {
  const t = textsOf(backupTexts)
  const settings = useQuery({ ...settingsQuery, staleTime: 0 })
  const [how, setHow] = useState<'merge' | 'replace'>('merge')
  const [asking, setAsking] = useState(false)
  const merge = how === 'merge'
  const apply = async () => {
    await api.call('POST /settings/import', { body: { ...given, merge } })
    await queries.invalidateQueries({ queryKey: settingsQuery.queryKey })
    await queries.invalidateQueries({ queryKey: optionsQuery.queryKey })
    announce(t.done)
    onDone()
  }
  const take = useMutation({ mutationFn: apply })
  const changes = settings.data ? changesOf(settings.data, given, merge) : []
  const unknown = unknownOf(given)
  return (
    <div className={parts.form}>
      <Choices
        legend={t.how}
        value={how}
        onValue={value => {
          setHow(value)
          take.reset()
        }}
        options={[
          { value: 'merge', label: t.merge, meaning: t.mergeHelp },
          { value: 'replace', label: t.replace, meaning: t.replaceHelp },
        ]}
      />
      <Trouble what={textsOf(settingsTexts).what} query={settings} />
      {settings.data && <Changes is={settings.data} given={given} merge={merge} />}
      {unknown.length > 0 && <p className={parts.warn}>{t.unknown(clip(unknown.join(', '), 300).shown)}</p>}
      <Refusal error={take.error} />
      <div className={parts.row}>
        {/* What is not known here is still for the server to refuse, in its words. */}
        {(changes.length > 0 || unknown.length > 0) && (
          <Button loading={take.isPending} onClick={() => (merge ? take.mutate() : setAsking(true))}>
            {t.apply(changes.length)}
          </Button>
        )}
        <Button variant="default" onClick={onBack}>
          {t.back}
        </Button>
      </div>
      {asking && (
        <Dialogs>
          <Confirm
            title={t.replaceTitle}
            text={t.replaceText(changes.length)}
            verb={t.replaceVerb}
            name={t.replaceWord}
            nameLabel={t.typeWord}
            act={apply}
            onClose={() => setAsking(false)}
          />
        </Dialogs>
      )}
    </div>
  )
}

const Changes = ({ is, given, merge }: { is: Sections; given: Given; merge: boolean }) => {
  const t = textsOf(backupTexts)
  const changes = changesOf(is, given, merge)
  if (changes.length === 0) return <p role="status">{t.nothing}</p>
  return (
    <table className={styles.changes}>
      <caption className={parts.hidden}>{t.what}</caption>
      <thead>
        <tr>
          {[t.setting, t.now, t.then].map(name => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {changes.map(({ name, from, to }) => (
          <tr key={name}>
            <th scope="row">{t.fields[name]}</th>
            <td>
              <bdi>{valueText(name, from)}</bdi>
            </td>
            <td>
              <bdi>{valueText(name, to)}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
