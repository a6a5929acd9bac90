import type { Ref } from 'react'
import { Field } from '../../kit/field.tsx'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import type { TemplateCheck } from './check.ts'
import { Code } from './code.tsx'
import type { TemplateForm } from './editor-form.ts'
import { categories } from './filter.ts'
import { templatesTexts } from './templates.texts.ts'
import styles from './templates.module.css'

export type ConfigFile = 'jail' | 'filter'

/** Name, words and settings. */
export const Basics = ({ form, isNew, isOff }: { form: TemplateForm; isNew: boolean; isOff: boolean }) => {
  const t = textsOf(templatesTexts)
  const e = t.editor
  const settings = [
    ['maxretry', e.retryHelp],
    ['findtime', e.timeHelp],
    ['bantime', e.banHelp],
    ['logpath', e.logHelp],
  ] as const
  return (
    <Panel>
      <div className={parts.form}>
        <TextField {...form.bind('name')} help={e.nameHelp} most={24} isOff={isOff || !isNew} />
        <TextField {...form.bind('displayName')} most={100} isOff={isOff} />
        <TextField {...form.bind('description')} most={1000} rows={3} isOff={isOff} />
        <SelectField
          {...form.bind('category')}
          isOff={isOff}
          options={categories.map(value => ({ value, text: t.categories[value] }))}
        />
        {settings.map(([name, help]) => (
          <TextField
            key={name}
            {...form.bind(name)}
            help={help}
            most={4096}
            dir="ltr"
            isOff={isOff}
            {...(name === 'maxretry' ? { kind: 'numeric' } : {})}
          />
        ))}
      </div>
    </Panel>
  )
}

/** One of the two files, with its problems at their lines. */
export const ConfigPane = (props: {
  file: ConfigFile
  form: TemplateForm
  isOff: boolean
  problems: readonly Problem[]
  fieldRef: Ref<HTMLTextAreaElement>
}) => {
  const { editor } = textsOf(templatesTexts)
  const { file, form, isOff, problems } = props
  const { label, value, onValue, error, isChanged } = form.bind(file)
  const marks = problems.flatMap(problem =>
    problem.file === file && problem.line !== null ? [{ line: problem.line, severity: problem.severity }] : [],
  )
  return (
    <Panel>
      <Field
        label={label}
        help={file === 'jail' ? editor.jailHelp : editor.filterHelp}
        error={error}
        isChanged={isChanged}
      >
        {ids => (
          <Code ids={ids} isIni value={value} {...(isOff ? {} : { onValue })} marks={marks} fieldRef={props.fieldRef} />
        )}
      </Field>
    </Panel>
  )
}

export type Problem = NonNullable<TemplateCheck['verdict']>['problems'][number]

/** The verdict in a line, and each problem with the way to it. */
export const Verdict = ({
  check,
  onLine,
}: {
  check: TemplateCheck
  onLine: (file: ConfigFile, line: number) => void
}) => {
  const t = textsOf(templatesTexts)
  const e = t.editor
  const { query, verdict } = check
  const problems = verdict?.problems ?? []
  const errors = problems.filter(({ severity }) => severity === 'error').length
  return (
    <Panel>
      <div role="status">
        {query.isFetching ? (
          <Mark tone="info">{e.checking}</Mark>
        ) : (
          verdict && (
            <Mark tone={errors > 0 ? 'danger' : problems.length > 0 ? 'warn' : 'ok'}>
              {problems.length === 0 ? e.fine : e.problems(errors, problems.length - errors)}
            </Mark>
          )
        )}
      </div>
      {problems.length > 0 && (
        <ul className={styles.problems}>
          {problems.slice(0, 50).map((problem, index) => (
            <ProblemLine key={index} problem={problem} onLine={onLine} />
          ))}
        </ul>
      )}
      <Trouble what={e.whatCheck} query={query} />
    </Panel>
  )
}

const ProblemLine = (props: { problem: Problem; onLine: (file: ConfigFile, line: number) => void }) => {
  const t = textsOf(templatesTexts)
  const { file, line, message, severity } = props.problem
  return (
    <li>
      <Mark tone={severity === 'error' ? 'danger' : 'warn'}>
        {severity === 'error' ? t.editor.error : t.editor.warning}
      </Mark>
      <span>
        <span className={parts.muted}>{line === null ? t.fields[file] : t.editor.at(t.fields[file], line)}:</span>{' '}
        <Stranger text={message} most={400} />
      </span>
      {line !== null && (
        <button type="button" className={parts.quiet} onClick={() => props.onLine(file, line)}>
          {t.editor.goToLine}
          <span className={parts.hidden}> {t.editor.at(t.fields[file], line)}</span>
        </button>
      )}
    </li>
  )
}
