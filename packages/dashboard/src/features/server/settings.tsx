import { useState } from 'react'
import { Button } from '@mantine/core'
import { api } from '../../api/client.ts'
import { queries, tagsQuery } from '../../api/queries.ts'
import type { Server } from '../../api/queries.ts'
import { readTags, wrongTag } from '../fleet/tag-words.ts'
import { TagsField } from '../fleet/tags-field.tsx'
import { targetsTexts } from '../fleet/targets.texts.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import { useForm } from '../../kit/form.ts'
import { Form, FormButtons } from '../../kit/form.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { RotateKey } from '../add-server/rotate-key.tsx'
import { AgentKeys, Quarantine } from './guard.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { serverTexts } from './server.texts.ts'
import styles from './server.module.css'

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
        <Dialogs>
          <DeleteDialog server={server} onClose={() => setDeleting(false)} />
        </Dialogs>
      )}
    </Panel>
  )
}

/** Tags that one server has at most. */
const mostTags = 20

const Describe = ({ server }: { server: Server }) => {
  const t = textsOf(serverTexts)
  const words = textsOf(targetsTexts)
  const form = useForm({
    name: `server ${server.id}`,
    is: { hostname: server.hostname, description: server.description, tags: server.tags.join(' ') },
    fields: { hostname: t.name, description: t.description, tags: words.tags },
    problems: ({ hostname, tags }) => ({
      hostname: hostname.trim() ? undefined : t.nameMissing,
      tags: wrongTag(tags) !== null || readTags(tags).length > mostTags ? words.edit.tooMany : undefined,
    }),
    parts: [
      {
        send: async ({ hostname, description, tags }, changed) => {
          await api.call('PATCH /servers/{serverId}', {
            params: { serverId: server.id },
            body: {
              hostname: hostname.trim(),
              description,
              ...(changed.has('tags') ? { tags: [...readTags(tags)] } : {}),
            },
          })
        },
      },
    ],
    reread: () => {
      for (const queryKey of [['servers'], tagsQuery.queryKey]) void queries.invalidateQueries({ queryKey })
      return queries.invalidateQueries({ queryKey: ['server', server.id] })
    },
  })
  const tags = form.bind('tags')
  return (
    <Form form={form} bar={false}>
      <TextField {...form.bind('hostname')} most={253} />
      <TextField {...form.bind('description')} most={1000} rows={2} />
      <TagsField {...tags} error={wrongTag(tags.value) === null ? tags.error : undefined} />
      <FormButtons form={form} submit={textsOf(commonTexts).save}>
        {form.isSaved && <span className={parts.muted}>{t.saved}</span>}
      </FormButtons>
    </Form>
  )
}
