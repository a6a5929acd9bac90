import { useEffect, useRef } from 'react'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { keysOf } from '@stockade/contract/records.ts'
import { api } from '../../api/client.ts'
import { queries, summaryQuery } from '../../api/queries.ts'
import { CancelButton } from '../../kit/dialog-buttons.tsx'
import { CopyField } from '../../kit/copy.tsx'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import { useForm } from '../../kit/form.ts'
import { Form, FormButtons } from '../../kit/form.tsx'
import parts from '../../kit/parts.module.css'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { readTags, wrongTag } from '../fleet/tag-words.ts'
import { TagsField } from '../fleet/tags-field.tsx'
import { targetsTexts } from '../fleet/targets.texts.ts'
import { Check, Choices } from './choices.tsx'
import { identityTexts } from './identity.texts.ts'
import { limitsTexts } from './limits.texts.ts'
import { keysQuery } from './queries.ts'
import type { Permission, Role } from './queries.ts'
import styles from './identity.module.css'

export type CreatedKey = Reply<'POST /users/{userId}/keys'>
const day = 86_400_000
const lives = [30, 90, 365] as const
/** The permissions that each role may give its keys. */
const grants = {
  Viewer: ['read'],
  Operator: ['read', 'write'],
  Admin: ['read', 'write', 'admin'],
} as const satisfies Record<Role, readonly Permission[]>

interface Typed {
  readonly name: string
  readonly permissions: Permission
  /** Days; 0 for a key without an end. */
  readonly life: number
  /** Empty for all servers of the owner. */
  readonly server: string
  /** Words; empty for no limit by tags. */
  readonly tags: string
  readonly scopes: readonly string[]
  readonly networks: string
}
const blank: Typed = { name: '', permissions: 'read', life: 90, server: '', tags: '', scopes: [], networks: '' }
const paths: Partial<Record<keyof Typed, string>> = {
  life: 'expires_at',
  server: 'server_id',
  networks: 'source_networks',
}

const createKey = (userId: number, { name, permissions, life, server, tags, scopes, networks }: Typed) => {
  const sources = networks.split(/[\s,]+/).filter(Boolean)
  const scopeNames = keysOf(limitsTexts.en.scopes)
  return api.call('POST /users/{userId}/keys', {
    params: { userId },
    body: {
      name: name.trim(),
      permissions,
      ...(server === '' ? {} : { server_id: server }),
      ...(readTags(tags).length === 0 ? {} : { tags: [...readTags(tags)] }),
      ...(scopes.length === 0 ? {} : { scopes: scopeNames.filter(scope => scopes.includes(scope)) }),
      ...(sources.length === 0 ? {} : { source_networks: sources }),
      ...(life > 0 ? { expires_at: new Date(Date.now() + life * day).toISOString() } : {}),
    },
  })
}

const useNewKey = (userId: number, onCreated: (key: CreatedKey) => void) => {
  const t = textsOf(identityTexts)
  const l = textsOf(limitsTexts)
  return useForm<Typed>({
    name: `new key ${userId}`,
    is: blank,
    late: true,
    saved: null,
    fields: {
      name: t.keys.name,
      permissions: t.keys.permission,
      life: t.keys.expiry,
      server: t.keys.server,
      tags: textsOf(targetsTexts).tags,
      scopes: l.legend,
      networks: l.networks,
    },
    problems: ({ name, tags }) => {
      const wrong = wrongTag(tags)
      return {
        name: name.trim() ? undefined : t.keys.nameMissing,
        tags: wrong === null ? undefined : textsOf(targetsTexts).edit.wrong(wrong),
      }
    },
    pathOf: name => paths[name] ?? name,
    always: true,
    parts: [
      {
        send: async values => {
          const key = await createKey(userId, values)
          void queries.invalidateQueries({ queryKey: keysQuery(userId).queryKey })
          onCreated(key)
        },
      },
    ],
  })
}

export const NewKey = (props: {
  userId: number
  role: Role
  onCreated: (key: CreatedKey) => void
  onClose: () => void
}) => {
  const t = textsOf(identityTexts)
  const form = useNewKey(props.userId, props.onCreated)
  const servers = useQuery(summaryQuery).data?.servers ?? []
  const permissions = form.bind('permissions')
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => element.current?.querySelector('input')?.focus(), [])
  return (
    <div ref={element} className={styles.narrow}>
      <Form form={form} bar={false}>
        <TextField {...form.bind('name')} help={t.keys.nameHelp} most={100} />
        <Choices
          legend={permissions.label}
          options={grants[props.role].map(value => ({
            value,
            label: t.permissions[value],
            meaning: t.permissionMeans[value],
          }))}
          value={permissions.value}
          onValue={permissions.onValue}
        />
        {servers.length > 0 && (
          <SelectField
            {...form.bind('server')}
            help={t.keys.serverHelp}
            options={[
              { value: '', text: t.keys.allServers },
              ...servers.map(({ id, hostname }) => ({ value: id, text: t.keys.oneServer(nameOf(hostname)) })),
            ]}
          />
        )}
        {servers.length > 0 && <TagsField {...form.bind('tags')} help={t.keys.tagsHelp} />}
        <Scopes chosen={form.values.scopes} onChosen={scopes => form.set({ scopes })} />
        <TextField {...form.bind('networks')} help={textsOf(limitsTexts).networksHelp} most={2000} dir="ltr" />
        <SelectField
          {...form.bind('life')}
          options={[...lives.map(value => ({ value, text: t.keys.days(value) })), { value: 0, text: t.keys.never }]}
        />
        <FormButtons form={form} submit={t.keys.createNow}>
          <CancelButton onClick={props.onClose} />
        </FormButtons>
      </Form>
    </div>
  )
}

/** The families of endpoints that a key may use. */
const Scopes = (props: { chosen: readonly string[]; onChosen: (scopes: readonly string[]) => void }) => {
  const t = textsOf(limitsTexts)
  const { chosen, onChosen } = props
  return (
    <fieldset className={`${parts.group ?? ''} ${styles.choices ?? ''}`}>
      <legend>{t.legend}</legend>
      <p className={parts.help}>{t.help}</p>
      <div className={parts.facts}>
        {keysOf(t.scopes).map(scope => (
          <Check
            key={scope}
            label={t.scopes[scope]}
            checked={chosen.includes(scope)}
            onChecked={on => onChosen(on ? [...chosen, scope] : chosen.filter(each => each !== scope))}
          />
        ))}
      </div>
    </fieldset>
  )
}

/** Shown once, with a line that works; closed only by Done. */
export const ShownOnce = ({ made, onDone }: { made: CreatedKey; onDone: () => void }) => {
  const t = textsOf(identityTexts).keys
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <div className={`${parts.form ?? ''} ${styles.once ?? ''}`}>
      <h2 ref={heading} tabIndex={-1} className={styles.small}>
        {t.made(nameOf(made.name))}
      </h2>
      <p>{t.once}</p>
      <CopyField text={made.key} label={t.key} />
      <p>{made.server_id === null ? t.try : t.tryOne}</p>
      <CopyField
        text={`curl -fsS -H "Authorization: Bearer ${made.key}" ${ownAddress}/api/v1/servers${made.server_id === null ? '' : `/${made.server_id}`}`}
        label={t.curl}
      />
      <div className={parts.row}>
        <Button onClick={onDone}>{t.done}</Button>
      </div>
    </div>
  )
}
