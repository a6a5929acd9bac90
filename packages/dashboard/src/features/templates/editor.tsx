import { useId, useRef, useState } from 'react'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { statusOf } from '../../api/client.ts'
import { templateQuery } from '../fleet/queries.ts'
import type { Template } from '../fleet/queries.ts'
import { Loading } from '../../kit/loading.tsx'
import { ButtonLink } from '../../kit/button-link.tsx'
import { formTexts } from '../../kit/form.texts.ts'
import { Form } from '../../kit/form.tsx'
import { Page, Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { useTemplateCheck } from './check.ts'
import { goToLine } from './code.tsx'
import { Basics, ConfigPane, Verdict } from './editor-fields.tsx'
import { blank, draftOf, useTemplateForm } from './editor-form.ts'
import type { TemplateDraft, TemplateForm } from './editor-form.ts'
import { exampleFor } from './examples.ts'
import { GoneTemplate } from './gone.tsx'
import { SampleLog } from './sample.tsx'
import { TemplateFrame } from './template-frame.tsx'
import { templatesTexts } from './templates.texts.ts'
import styles from './templates.module.css'

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
        <Loading what={textsOf(templatesTexts).whatOne} query={query} />
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
        <Loading what={textsOf(templatesTexts).whatOne} query={query} />
      </Page>
    )
  return (
    <Editor
      key={template.id}
      title={template.type === 'builtin' ? nameOf(template.display_name) : t.editTitle(nameOf(template.display_name))}
      begin={draftOf(template)}
      saved={template}
      example={exampleFor(template.name)}
    />
  )
}

/** A built-in one is shown the same way, and can be tried, but not changed. */
const Editor = (props: { title: string; begin: TemplateDraft; saved: Template | null; example: string | null }) => {
  const { title, begin, saved, example } = props
  const t = textsOf(templatesTexts)
  const formId = useId()
  const form = useTemplateForm(begin, saved)
  const [sample, setSample] = useState('')
  const check = useTemplateCheck(form.values.jail, form.values.filter, sample)
  const fields = { jail: useRef<HTMLTextAreaElement>(null), filter: useRef<HTMLTextAreaElement>(null) }
  const isBuiltIn = saved?.type === 'builtin'
  const problems = check.verdict?.problems ?? []
  return (
    <TemplateFrame
      title={title}
      actions={isBuiltIn ? <Duplicate name={saved.name} /> : <Actions form={form} formId={formId} />}
    >
      {isBuiltIn && <p className={parts.note}>{t.editor.builtin}</p>}
      {saved && !isBuiltIn && <p className={parts.muted}>{t.editor.notDeployed}</p>}
      <p className={`${parts.help ?? ''} ${styles.onlyPhone ?? ''}`}>{t.editor.wide}</p>
      <Form form={form} id={formId} bar={false}>
        <div className={styles.panes}>
          <Basics form={form} isNew={!saved} isOff={isBuiltIn} />
          <div className={styles.right}>
            <div className={styles.codes}>
              {(['jail', 'filter'] as const).map(file => (
                <ConfigPane
                  key={file}
                  file={file}
                  form={form}
                  isOff={isBuiltIn}
                  problems={problems}
                  fieldRef={fields[file]}
                />
              ))}
            </div>
            <Verdict check={check} onLine={(file, line) => goToLine(fields[file].current, line)} />
            <Panel>
              <SampleLog
                sample={sample}
                onSample={setSample}
                example={example}
                tried={check.tried}
                checking={check.query.isFetching}
              />
            </Panel>
          </div>
        </div>
      </Form>
    </TemplateFrame>
  )
}

const Duplicate = ({ name }: { name: string }) => (
  <ButtonLink to="/templates/new" search={{ from: name }}>
    {textsOf(templatesTexts).duplicate}
  </ButtonLink>
)

const Actions = ({ form, formId }: { form: TemplateForm; formId: string }) => (
  <>
    {form.isHeldBack && (
      <span className={parts.error} role="alert">
        {textsOf(formTexts).fixFirst}
      </span>
    )}
    {form.changed.size > 0 && (
      <Button variant="subtle" color="gray" onClick={form.discard}>
        {textsOf(formTexts).discard}
      </Button>
    )}
    <Button type="submit" form={formId} loading={form.isSaving}>
      {textsOf(templatesTexts).editor.save}
    </Button>
  </>
)
