import { useState } from 'react'
import type { ChangeEvent, FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { tellImported } from '../fleet/undo.ts'
import { useForgotten, useKeptState } from '../../kit/draft.ts'
import { Field } from '../../kit/field.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { number } from '../../lib/numbers.ts'
import type { ReadLines } from './lines.ts'
import { formatOf, preview } from './preview.ts'
import type { Format } from './preview.ts'
import { whitelistTexts } from './whitelist.texts.ts'
import styles from './whitelist.module.css'

const formats = ['plain', 'csv', 'json'] as const
const largest = 15 * 1024 * 1024
const shown = 8

/** Takes a list in, after it was shown what is good of it and what is not. */
const ImportDialog = ({ onClose }: { onClose: () => void }) => (
  <Dialog title={textsOf(whitelistTexts).imports.title} onClose={onClose}>
    <Form onClose={onClose} />
  </Dialog>
)
export default ImportDialog

const Form = ({ onClose }: { onClose: () => void }) => {
  const t = textsOf(whitelistTexts).imports
  const { cancel } = textsOf(commonTexts)
  const [content, setContent] = useKeptState('whitelist import/content', '')
  const [chosen, setChosen] = useState<Format | null>(null)
  const [prefix, setPrefix] = useKeptState('whitelist import/prefix', '')
  const [problem, setProblem] = useState<string>()
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
  const choose = async (event: ChangeEvent<HTMLInputElement>) => {
    const file = event.currentTarget.files?.[0]
    if (!file) return
    if (file.size > largest) return setProblem(t.tooLarge)
    setProblem(undefined)
    setContent(await file.text())
  }
  const look = (event: FormEvent) => {
    event.preventDefault()
    if (content.trim() === '') return setProblem(t.none)
    const read = preview(content, format)
    setProblem(read ? undefined : t.notRead)
    setFound(read)
  }
  if (take.data)
    return (
      <div className={parts.form}>
        <p role="status">{t.result(number(take.data.imported), number(take.data.skipped))}</p>
        {take.data.error_count > 0 && (
          <>
            <p className={parts.warn}>{t.errors(number(take.data.error_count))}</p>
            <ul className={styles.wrong}>
              {take.data.errors.slice(0, shown).map(({ line, value, error }) => (
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
  if (found)
    return (
      <div className={parts.form}>
        <p role="status">{t.would(number(found.entries.length), number(found.wrong.length))}</p>
        {found.entries.length > 0 && (
          <>
            <h3 className={parts.help}>{t.firstLines}</h3>
            <ul className={styles.lines}>
              {found.entries.slice(0, shown).map(({ ip, description }, index) => (
                <li key={index}>
                  {ip}
                  {(prefix || description) && ` # ${prefix}${description}`.slice(0, 120)}
                </li>
              ))}
            </ul>
          </>
        )}
        {found.wrong.length > 0 && (
          <>
            <h3 className={parts.help}>{t.wrongLines}</h3>
            <ul className={styles.wrong}>
              {found.wrong.slice(0, shown).map(({ line, text }) => (
                <li key={line}>{t.line(line, text.slice(0, 80), '')}</li>
              ))}
            </ul>
          </>
        )}
        <Refusal error={take.error} />
        <div className={parts.row}>
          <Button disabled={found.entries.length === 0} loading={take.isPending} onClick={() => take.mutate()}>
            {t.submit(number(found.entries.length))}
          </Button>
          <Button variant="default" onClick={() => setFound(null)}>
            {t.back}
          </Button>
        </div>
      </div>
    )
  return (
    <form className={parts.form} onSubmit={look} noValidate>
      <Field label={t.content} help={t.help} error={problem}>
        {ids => (
          <textarea
            {...ids}
            className={`${parts.input ?? ''} ${styles.lines ?? ''}`}
            rows={8}
            spellCheck={false}
            dir="ltr"
            data-autofocus
            value={content.length > 200_000 ? content.slice(0, 200_000) : content}
            readOnly={content.length > 200_000}
            onChange={event => setContent(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label={t.file}>
        {ids => <input {...ids} type="file" accept=".txt,.csv,.json,text/*,application/json" onChange={choose} />}
      </Field>
      <Field label={t.format}>
        {ids => (
          <select
            {...ids}
            className={parts.input}
            value={format}
            onChange={event => setChosen(formats.find(known => known === event.currentTarget.value) ?? null)}
          >
            {formats.map(known => (
              <option key={known} value={known}>
                {t.formats[known]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={t.prefix}>
        {ids => (
          <input
            {...ids}
            className={parts.input}
            autoComplete="off"
            maxLength={200}
            value={prefix}
            onChange={event => setPrefix(event.currentTarget.value)}
          />
        )}
      </Field>
      <div className={parts.row}>
        <Button type="submit">{t.preview}</Button>
        <Button variant="default" onClick={onClose}>
          {cancel}
        </Button>
      </div>
    </form>
  )
}
