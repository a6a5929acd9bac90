import { useDeferredValue, useEffect, useRef, useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { api, statusOf } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { templateQuery } from '../fleet/queries.ts'
import type { Template } from '../fleet/queries.ts'
import { Field } from '../../kit/field.tsx'
import { useDraft } from '../../kit/draft.ts'
import { useLeaveGuard } from '../../kit/leave.ts'
import { Page, Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Refusal, Trouble, fieldProblem } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { Code, goToLine } from './code.tsx'
import { exampleFor } from './examples.ts'
import { categories } from './filter.ts'
import { GoneTemplate } from './gone.tsx'
import { SampleLog } from './sample.tsx'
import { tooMuchOf } from './sample-words.ts'
import { SettingsFields } from './settings-fields.tsx'
import { readSettings, typedSettings, untyped } from './settings-words.ts'
import type { Typed } from './settings-words.ts'
import { templatesTexts } from './templates.texts.ts'
import styles from './templates.module.css'

interface Draft {
  readonly name: string
  readonly displayName: string
  readonly description: string
  readonly category: Template['category']
  readonly typed: Typed
  readonly jail: string
  readonly filter: string
}
const blank: Draft = {
  name: '',
  displayName: '',
  description: '',
  category: 'custom',
  typed: untyped,
  jail: '[my-service]\nenabled = true\nfilter = my-service\nlogpath = /var/log/my-service.log\n',
  filter: '[Definition]\nfailregex = ^.* login failed from <HOST>\nignoreregex =\n',
}
const draftOf = (template: Template): Draft => ({
  name: template.name,
  displayName: template.display_name,
  description: template.description,
  category: template.category,
  typed: typedSettings(template.settings),
  jail: template.jail_config,
  filter: template.filter_config,
})

/** A template of one's own, empty or as a copy of another. */
export const NewTemplate = () => {
  const t = textsOf(templatesTexts).editor
  const { from } = useSearch({ from: '/inside/templates/new' })
  const query = useQuery({ ...templateQuery(from ?? ''), enabled: from !== undefined })
  if (from === undefined) return <Editor title={t.newTitle} begin={blank} saved={null} example={exampleFor('')} />
  if (statusOf(query.error) === 404 || statusOf(query.error) === 400) return <GoneTemplate />
  if (!query.data)
    return (
      <Page title={t.newTitle}>
        <Trouble what={textsOf(templatesTexts).whatOne} query={query} />
        {query.isPending && <Waiting />}
      </Page>
    )
  const copied = draftOf(query.data)
  return (
    <Editor
      title={t.newTitle}
      begin={{ ...copied, name: '', displayName: t.copyOf(copied.displayName), category: 'custom' }}
      saved={null}
      example={exampleFor(copied.name)}
    />
  )
}

export const EditTemplate = () => {
  const t = textsOf(templatesTexts).editor
  const { templateId } = useParams({ from: '/inside/templates/$templateId/edit' })
  const query = useQuery({ ...templateQuery(templateId), staleTime: Infinity })
  const template = query.data
  if (statusOf(query.error) === 404 || statusOf(query.error) === 400) return <GoneTemplate />
  if (!template)
    return (
      <Page title={textsOf(templatesTexts).title}>
        <Trouble what={textsOf(templatesTexts).whatOne} query={query} />
        {query.isPending && <Waiting />}
      </Page>
    )
  return (
    <Editor
      key={template.id}
      title={t.editTitle(nameOf(template.display_name))}
      begin={draftOf(template)}
      saved={template}
      example={exampleFor(template.name)}
    />
  )
}

/** A value a moment after it stopped changing. */
const useSettled = <T,>(value: T, wait: number): T => {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), wait)
    return () => clearTimeout(timer)
  }, [value, wait])
  return settled
}

/** Null characters can not be typed, and pasted ones are no part of a log. */
const useProblems = (jail: string, filter: string, lines: string) => {
  const sent = lines.trim() === '' || tooMuchOf(lines) ? '' : lines.replaceAll('\u0000', '\ufffd')
  const settled = useSettled([jail, filter, sent].join('\u0000'), 400)
  const [jail_config = '', filter_config = '', sample = ''] = settled.split('\u0000')
  const query = useQuery({
    queryKey: ['validate', jail_config, filter_config, sample],
    queryFn: async ({ signal }) => {
      const body = { jail_config, filter_config, ...(sample === '' ? {} : { sample }) }
      const { matches, sample_note = null, ...verdict } = await api.call('POST /templates/validate', { body, signal })
      return { verdict, tried: matches ? { sample, matches, note: sample_note } : null }
    },
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 60_000,
  })
  // Lines that are no longer there have no marks either.
  const tried = sent === '' ? null : (query.data?.tried ?? null)
  return { query, verdict: query.data?.verdict, tried }
}

const Editor = (props: { title: string; begin: Draft; saved: Template | null; example: string | null }) => {
  const { title, begin, saved, example } = props
  const t = textsOf(templatesTexts)
  const e = t.editor
  const navigate = useNavigate()
  const kept = useDraft(begin, { name: `template ${saved?.id ?? `new ${begin.displayName}`}` })
  const draft = kept.values
  const [tried, setTried] = useState(false)
  const left = useRef(false)
  const fields = { jail: useRef<HTMLTextAreaElement>(null), filter: useRef<HTMLTextAreaElement>(null) }
  const change = kept.set
  const changed = useDeferredValue(JSON.stringify(draft) !== JSON.stringify(begin))
  const [sample, setSample] = useState('')
  const { query: check, verdict, tried: triedSample } = useProblems(draft.jail, draft.filter, sample)
  const problems = verdict?.problems ?? []
  const errors = problems.filter(({ severity }) => severity === 'error')
  const { settings, wrong } = readSettings(draft.typed)
  const builtin = saved?.type === 'builtin'
  useLeaveGuard(() => changed && !left.current)
  const save = useMutation({
    mutationFn: async () => {
      const common = {
        display_name: draft.displayName.trim() || draft.name,
        description: draft.description,
        category: draft.category,
        jail_config: draft.jail,
        filter_config: draft.filter,
      }
      if (!saved) {
        const made = await api.call('POST /templates', { body: { ...common, name: draft.name, settings } })
        return made.name
      }
      const { maxretry = null, findtime = null, bantime = null, logpath = null } = settings
      await api.call('PATCH /templates/{templateId}', {
        params: { templateId: saved.name },
        body: { ...common, settings: { maxretry, findtime, bantime, logpath } },
      })
      return saved.name
    },
    onSuccess: name => {
      left.current = true
      kept.reset()
      void queries.invalidateQueries({ queryKey: ['templates'] })
      void queries.invalidateQueries({ queryKey: ['template'] })
      void navigate({ to: '/templates/$templateId', params: { templateId: name } })
    },
  })
  const nameWrong = !/^[a-z][a-z0-9-]{0,23}$/.test(draft.name)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (!nameWrong && wrong.size === 0 && draft.jail.trim() !== '' && !save.isPending && !builtin) save.mutate()
  }
  const files = { jail: t.fields.jail, filter: t.fields.filter }
  const marksOf = (file: 'jail' | 'filter') =>
    problems.flatMap(problem =>
      problem.file === file && problem.line !== null ? [{ line: problem.line, severity: problem.severity }] : [],
    )
  return (
    <Page title={title} heading={<bdi>{title}</bdi>}>
      {builtin && <p className={parts.warn}>{e.builtin}</p>}
      {saved && !builtin && <p className={parts.muted}>{e.notDeployed}</p>}
      <p className={`${parts.help ?? ''} ${styles.onlyPhone ?? ''}`}>{e.wide}</p>
      <form
        className={styles.panes}
        onSubmit={submit}
        noValidate
        onKeyDown={event => {
          if (!(event.ctrlKey || event.metaKey) || event.key !== 's') return
          event.preventDefault()
          event.currentTarget.requestSubmit()
        }}
      >
        <Panel>
          <div className={parts.form}>
            <Field
              label={t.fields.name}
              help={e.nameHelp}
              error={(tried && nameWrong ? e.nameWrong : undefined) ?? fieldProblem(save.error, 'name')}
            >
              {ids => (
                <input
                  {...ids}
                  className={parts.input}
                  autoComplete="off"
                  autoCapitalize="none"
                  spellCheck={false}
                  maxLength={24}
                  disabled={saved !== null}
                  value={draft.name}
                  onChange={event => change({ name: event.currentTarget.value })}
                />
              )}
            </Field>
            <Field label={t.fields.displayName} error={fieldProblem(save.error, 'display_name')}>
              {ids => (
                <input
                  {...ids}
                  className={parts.input}
                  autoComplete="off"
                  maxLength={100}
                  value={draft.displayName}
                  onChange={event => change({ displayName: event.currentTarget.value })}
                />
              )}
            </Field>
            <Field label={t.fields.description} error={fieldProblem(save.error, 'description')}>
              {ids => (
                <textarea
                  {...ids}
                  className={parts.input}
                  rows={3}
                  maxLength={1000}
                  value={draft.description}
                  onChange={event => change({ description: event.currentTarget.value })}
                />
              )}
            </Field>
            <Field label={t.fields.category}>
              {ids => (
                <select
                  {...ids}
                  className={parts.input}
                  value={draft.category}
                  onChange={event => {
                    const category = categories.find(known => known === event.currentTarget.value)
                    if (category) change({ category })
                  }}
                >
                  {categories.map(category => (
                    <option key={category} value={category}>
                      {t.categories[category]}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <SettingsFields
              typed={draft.typed}
              onTyped={typed => change({ typed })}
              wrong={tried ? wrong : new Set()}
              help={{ maxretry: e.retryHelp, findtime: e.timeHelp, bantime: e.banHelp, logpath: e.logHelp }}
            />
          </div>
        </Panel>
        <Panel>
          <div className={parts.form}>
            {(['jail', 'filter'] as const).map(file => (
              <Field
                key={file}
                label={files[file]}
                help={file === 'jail' ? e.jailHelp : e.filterHelp}
                error={
                  (tried && file === 'jail' && draft.jail.trim() === '' ? e.jailMissing : undefined) ??
                  fieldProblem(save.error, `${file}_config`)
                }
              >
                {ids => (
                  <Code
                    ids={ids}
                    value={draft[file]}
                    onValue={value => change({ [file]: value })}
                    marks={marksOf(file)}
                    fieldRef={fields[file]}
                  />
                )}
              </Field>
            ))}
            <div role="status">
              {check.isFetching ? (
                <Mark tone="info">{e.checking}</Mark>
              ) : verdict && problems.length === 0 ? (
                <Mark tone="ok">{e.fine}</Mark>
              ) : (
                verdict && (
                  <Mark tone={errors.length > 0 ? 'danger' : 'warn'}>
                    {e.problems(errors.length, problems.length - errors.length)}
                  </Mark>
                )
              )}
            </div>
            {problems.length > 0 && (
              <ul className={styles.problems}>
                {problems.slice(0, 50).map(({ file, line, message, severity }, index) => (
                  <li key={index}>
                    <Mark tone={severity === 'error' ? 'danger' : 'warn'}>
                      {severity === 'error' ? e.error : e.warning}
                    </Mark>
                    {line === null ? (
                      <span className={parts.muted}>{files[file]}</span>
                    ) : (
                      <button
                        type="button"
                        className={parts.quiet}
                        onClick={() => goToLine(fields[file].current, line)}
                      >
                        {e.at(files[file], line)}
                      </button>
                    )}
                    <span>
                      <Stranger text={message} most={400} />
                    </span>
                  </li>
                ))}
              </ul>
            )}
            <Trouble what={e.whatCheck} query={check} />
            <SampleLog
              sample={sample}
              onSample={setSample}
              example={example}
              tried={triedSample}
              checking={check.isFetching}
            />
            <Refusal error={save.error} />
            <div className={parts.row}>
              <Button type="submit" disabled={builtin} loading={save.isPending}>
                {e.save}
              </Button>
              {tried && errors.length > 0 && <span className={parts.error}>{e.fix}</span>}
            </div>
          </div>
        </Panel>
      </form>
    </Page>
  )
}
