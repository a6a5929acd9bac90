import { useState } from 'react'
import type { ChangeEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { tellImported } from '../fleet/undo.ts'
import { CancelButton } from '../../kit/dialog-buttons.tsx'
import { useForgotten, useKeptState } from '../../kit/draft.ts'
import { Field } from '../../kit/field.tsx'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import type { ReadLines } from './lines.ts'
import { formatOf, preview } from './preview.ts'
import type { Format } from './preview.ts'
import { whitelistTexts } from './whitelist.texts.ts'
import styles from './whitelist.module.css'

const formats = ['plain', 'csv', 'json'] as const
const largest = 15 * 1024 * 1024
/** In characters: a longer text can't be edited in a browser without delay. */
const longestShown = 200_000
const mostListed = 8

/** Takes a list in, after it was shown what is good of it and what is not. */
const ImportDialog = ({ onClose }: { onClose: () => void }) => (
  <Dialog title={textsOf(whitelistTexts).imports.title} onClose={onClose}>
    <Form onClose={onClose} />
  </Dialog>
)
export default ImportDialog

const Form = ({ onClose }: { onClose: () => void }) => {
  const [content, setContent] = useKeptState('whitelist import/content', '')
  const [chosen, setFormat] = useState<Format | null>(null)
  const [prefix, setPrefix] = useKeptState('whitelist import/prefix', '')
  const [found, setFound] = useState<ReadLines | null>(null)
  const format = chosen ?? formatOf(content)
  const take = useMutation({
    mutationFn: () =>
      api.call('POST /whitelist/import', {
        body: { format, content, ...(prefix ? { description_prefix: prefix } : {}) },
      }),
    onSuccess: ({ imported, ids }) => {
      tellImported(imported, ids)
      void queries.invalidateQueries({ queryKey: ['whitelist'] })
      void queries.invalidateQueries({ queryKey: ['lookup'] })
    },
  })
  useForgotten('whitelist import', take.isSuccess)
  if (take.data) return <Taken reply={take.data} onClose={onClose} />
  if (found) return <Preview found={found} prefix={prefix} take={take} onBack={() => setFound(null)} />
  return (
    <Choice {...{ content, setContent, format, setFormat, prefix, setPrefix }} onFound={setFound} onClose={onClose} />
  )
}

/** The list as text or as a file, and how it is written. */
const Choice = (props: {
  content: string
  setContent: (content: string) => void
  format: Format
  setFormat: (format: Format) => void
  prefix: string
  setPrefix: (prefix: string) => void
  onFound: (found: ReadLines) => void
  onClose: () => void
}) => {
  const t = textsOf(whitelistTexts).imports
  const { content, format } = props
  const [problem, setProblem] = useState<string>()
  const choose = async (event: ChangeEvent<HTMLInputElement>) => {
    const file = event.currentTarget.files?.[0]
    if (!file) return
    if (file.size > largest) return setProblem(t.tooLarge)
    setProblem(undefined)
    props.setContent(await file.text())
  }
  const look = () => {
    if (content.trim() === '') return setProblem(t.none)
    const read = preview(content, format)
    setProblem(read ? undefined : t.notRead)
    if (read) props.onFound(read)
  }
  return (
    <PlainForm onSubmit={look}>
      <Field label={t.content} help={t.help} error={problem}>
        {ids => (
          <textarea
            {...ids}
            className={`${parts.input ?? ''} ${styles.lines ?? ''}`}
            rows={8}
            spellCheck={false}
            dir="ltr"
            data-autofocus
            value={content.slice(0, longestShown)}
            readOnly={content.length > longestShown}
            onChange={event => props.setContent(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label={t.file}>
        {ids => <input {...ids} type="file" accept=".txt,.csv,.json,text/*,application/json" onChange={choose} />}
      </Field>
      <SelectField
        label={t.format}
        value={format}
        onValue={props.setFormat}
        options={formats.map(value => ({ value, text: t.formats[value] }))}
      />
      <TextField label={t.prefix} most={200} value={props.prefix} onValue={props.setPrefix} />
      <div className={parts.row}>
        <Button type="submit">{t.preview}</Button>
        <CancelButton onClick={props.onClose} />
      </div>
    </PlainForm>
  )
}

/** What would be taken in, and what is left out. */
const Preview = (props: {
  found: ReadLines
  prefix: string
  take: { readonly error: unknown; readonly isPending: boolean; readonly mutate: () => void }
  onBack: () => void
}) => {
  const t = textsOf(whitelistTexts).imports
  const { prefix, take } = props
  const { entries, wrong } = props.found
  return (
    <div className={parts.form}>
      <p role="status">{t.would(number(entries.length), number(wrong.length))}</p>
      {entries.length > 0 && (
        <>
          <h3 className={parts.help}>{t.firstLines}</h3>
          <ul className={styles.lines}>
            {entries.slice(0, mostListed).map(({ ip, description }, index) => (
              <li key={index}>
                {ip}
                {(prefix || description) && ` # ${prefix}${description}`.slice(0, 120)}
              </li>
            ))}
          </ul>
        </>
      )}
      {wrong.length > 0 && (
        <>
          <h3 className={parts.help}>{t.wrongLines}</h3>
          <ul className={styles.wrong}>
            {wrong.slice(0, mostListed).map(({ line, text }) => (
              <li key={line}>{t.line(line, text.slice(0, 80), '')}</li>
            ))}
          </ul>
        </>
      )}
      <Refusal error={take.error} />
      <div className={parts.row}>
        <Button disabled={entries.length === 0} loading={take.isPending} onClick={() => take.mutate()}>
          {t.submit(number(entries.length))}
        </Button>
        <Button variant="default" onClick={props.onBack}>
          {t.back}
        </Button>
      </div>
    </div>
  )
}

const Taken = ({ reply, onClose }: { reply: Reply<'POST /whitelist/import'>; onClose: () => void }) => {
  const t = textsOf(whitelistTexts).imports
  return (
    <div className={parts.form}>
      <p role="status">{t.result(number(reply.imported), number(reply.skipped))}</p>
      {reply.error_count > 0 && (
        <>
          <p className={parts.warn}>{t.errors(number(reply.error_count))}</p>
          <ul className={styles.wrong}>
            {reply.errors.slice(0, mostListed).map(({ line, value, error }) => (
              <li key={line}>{t.line(line, value.slice(0, 80), error)}</li>
            ))}
          </ul>
        </>
      )}
      <div className={parts.row}>
        <Button onClick={onClose}>{textsOf(whitelistTexts).dialog.done}</Button>
      </div>
    </div>
  )
}
