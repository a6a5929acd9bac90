import { Suspense, lazy, useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries, tagsQuery } from '../../api/queries.ts'
import type { Server } from '../../api/queries.ts'
import { readTags, wrongTag } from '../fleet/tag-words.ts'
import { TagsField } from '../fleet/tags-field.tsx'
import { targetsTexts } from '../fleet/targets.texts.ts'
import { announce } from '../../kit/announce.tsx'
import { Field } from '../../kit/field.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { RotateKey } from '../add-server/rotate-key.tsx'
import { AgentKeys, Quarantine } from './guard.tsx'
import { serverTexts } from './server.texts.ts'
import styles from './server.module.css'

const DeleteDialog = lazy(() => import('./delete-dialog.tsx'))

/** What only admins do: rename and describe, install again, delete. */
export const Settings = ({ server }: { server: Server }) => {
  const t = textsOf(serverTexts)
  const [deleting, setDeleting] = useState(false)
  return (
    <Panel title={t.settings}>
      <div className={styles.settings}>
        <div className={styles.block}>
          <Describe server={server} />
        </div>
        <div className={styles.block}>
          <RotateKey server={server} />
          <AgentKeys server={server} />
        </div>
        <div className={styles.block}>
          <Quarantine server={server} />
        </div>
        <div className={styles.block}>
          <h3>{t.dangerTitle}</h3>
          <p className={parts.help}>{t.dangerText}</p>
          <Button variant="default" onClick={() => setDeleting(true)}>
            {t.delete}
          </Button>
        </div>
      </div>
      {deleting && (
        <Suspense>
          <DeleteDialog server={server} onClose={() => setDeleting(false)} />
        </Suspense>
      )}
    </Panel>
  )
}

/** Tags that one server has at most. */
const mostTags = 20

const Describe = ({ server }: { server: Server }) => {
  const t = textsOf(serverTexts)
  const [hostname, setHostname] = useState(server.hostname)
  const [description, setDescription] = useState(server.description)
  const [tags, setTags] = useState(server.tags.join(' '))
  const hasNewTags = readTags(tags).join() !== server.tags.join()
  const change = useMutation({
    mutationFn: () =>
      api.call('PATCH /servers/{serverId}', {
        params: { serverId: server.id },
        body: { hostname: hostname.trim(), description, ...(hasNewTags ? { tags: [...readTags(tags)] } : {}) },
      }),
    onSuccess: () => {
      announce(t.saved)
      void queries.invalidateQueries({ queryKey: ['server', server.id] })
      for (const queryKey of [['servers'], tagsQuery.queryKey]) void queries.invalidateQueries({ queryKey })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (hostname.trim() && wrongTag(tags) === null) change.mutate()
  }
  const changed = hostname.trim() !== server.hostname || description !== server.description || hasNewTags
  return (
    <form className={parts.form} onSubmit={submit} noValidate>
      <Field label={t.name} error={hostname.trim() ? fieldProblem(change.error, 'hostname') : t.nameMissing}>
        {ids => (
          <input
            {...ids}
            className={parts.input}
            autoComplete="off"
            spellCheck={false}
            maxLength={253}
            value={hostname}
            onChange={event => setHostname(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label={t.description} error={fieldProblem(change.error, 'description')}>
        {ids => (
          <textarea
            {...ids}
            className={parts.input}
            rows={2}
            maxLength={1000}
            value={description}
            onChange={event => setDescription(event.currentTarget.value)}
          />
        )}
      </Field>
      <TagsField
        label={textsOf(targetsTexts).tags}
        value={tags}
        onValue={setTags}
        error={
          readTags(tags).length > mostTags ? textsOf(targetsTexts).edit.tooMany : fieldProblem(change.error, 'tags')
        }
      />
      <Refusal error={change.error} />
      <div className={parts.row}>
        <Button type="submit" variant={changed ? 'filled' : 'default'} loading={change.isPending}>
          {textsOf(commonTexts).save}
        </Button>
        {change.isSuccess && !changed && <span className={parts.muted}>{t.saved}</span>}
      </div>
    </form>
  )
}
