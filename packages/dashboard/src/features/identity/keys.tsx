import { Suspense, useEffect, useRef, useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries, summaryQuery } from '../../api/queries.ts'
import { announce } from '../../kit/announce.tsx'
import { CopyField } from '../../kit/copy.tsx'
import { Field } from '../../kit/field.tsx'
import { useWords } from '../../kit/now.ts'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark, State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal, Trouble, fieldProblem } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { useNarrow } from '../../kit/width.ts'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { nameOf } from '../../lib/clip.ts'
import { shortDate } from '../../lib/time.ts'
import { Check, Choices } from './choices.tsx'
import { Confirm } from './dialogs.ts'
import { identityTexts } from './identity.texts.ts'
import { limitsTexts } from './limits.texts.ts'
import { keysQuery } from './queries.ts'
import type { Key, Permission, Role } from './queries.ts'
import styles from './identity.module.css'

type Scope = keyof typeof limitsTexts.en.scopes
type Made = Reply<'POST /users/{userId}/keys'>
const day = 86_400_000
const lives = [30, 90, 365] as const
/** What each role may give its keys. */
const grants = {
  Viewer: ['read'],
  Operator: ['read', 'write'],
  Admin: ['read', 'write', 'admin'],
} as const satisfies Record<Role, readonly Permission[]>

/** The keys of a user: what uses them, what they may do, until when. */
export const Keys = ({ userId, role, title }: { userId: number; role: Role; title?: string }) => {
  const t = textsOf(identityTexts).keys
  const keys = useQuery(keysQuery(userId))
  const narrow = useNarrow()
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<Made>()
  const [revoking, setRevoking] = useState<Key>()
  const opener = useRef<HTMLButtonElement>(null)
  const rows = keys.data?.keys
  const done = () => {
    setMade(undefined)
    setTimeout(() => opener.current?.focus())
  }
  const revoke = async (key: Key) => {
    await api.call('DELETE /keys/{keyId}', { params: { keyId: key.id } })
    announce(t.revoked(nameOf(key.name)))
    await queries.invalidateQueries({ queryKey: keysQuery(userId).queryKey })
  }
  const create = !making && !made && (
    <Button ref={opener} leftSection={<IconPlus size={16} />} onClick={() => setMaking(true)}>
      {t.create}
    </Button>
  )
  return (
    <Panel {...(title ? { title } : {})}>
      <div className={parts.form}>
        {rows && rows.length > 0 && create && <div className={parts.row}>{create}</div>}
        {making && (
          <NewKey
            userId={userId}
            role={role}
            onMade={key => {
              setMaking(false)
              setMade(key)
            }}
            onClose={() => {
              setMaking(false)
              setTimeout(() => opener.current?.focus())
            }}
          />
        )}
        {made && <ShownOnce made={made} onDone={done} />}
        <Trouble what={t.what} query={keys} />
        {keys.isPending && <Waiting lines={2} />}
        {rows && <EndingSoon rows={rows} />}
        {rows?.length === 0 && !making && !made && (
          <div className={styles.block}>
            <p className={parts.muted}>{t.none}</p>
            {create}
          </div>
        )}
        {rows &&
          rows.length > 0 &&
          (narrow ? <Cards rows={rows} onRevoke={setRevoking} /> : <Table rows={rows} onRevoke={setRevoking} />)}
      </div>
      {revoking && (
        <Suspense>
          <Confirm
            title={t.revokeTitle}
            text={t.revokeText(nameOf(revoking.name))}
            verb={t.revoke}
            act={() => revoke(revoking)}
            onClose={() => setRevoking(undefined)}
          />
        </Suspense>
      )}
    </Panel>
  )
}

const NewKey = (props: { userId: number; role: Role; onMade: (key: Made) => void; onClose: () => void }) => {
  const t = textsOf(identityTexts)
  const [name, setName] = useState('')
  const [permissions, setPermissions] = useState<Permission>('read')
  const [life, setLife] = useState<number>(90)
  const [server, setServer] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>([])
  const [networks, setNetworks] = useState('')
  const sources = networks.split(/[\s,]+/).filter(Boolean)
  const servers = useQuery(summaryQuery).data?.servers ?? []
  const [tried, setTried] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const create = useMutation({
    mutationFn: () =>
      api.call('POST /users/{userId}/keys', {
        params: { userId: props.userId },
        body: {
          name: name.trim(),
          permissions,
          ...(server === '' ? {} : { server_id: server }),
          ...(scopes.length === 0 ? {} : { scopes: [...scopes] }),
          ...(sources.length === 0 ? {} : { source_networks: sources }),
          ...(life > 0 ? { expires_at: new Date(Date.now() + life * day).toISOString() } : {}),
        },
      }),
    onSuccess: key => {
      props.onMade(key)
      void queries.invalidateQueries({ queryKey: keysQuery(props.userId).queryKey })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (!name.trim()) field.current?.focus()
    else if (!create.isPending) create.mutate()
  }
  return (
    <form className={`${parts.form ?? ''} ${styles.narrow ?? ''}`} onSubmit={submit} noValidate>
      <Field
        label={t.keys.name}
        help={t.keys.nameHelp}
        error={tried && !name.trim() ? t.keys.nameMissing : fieldProblem(create.error, 'name')}
      >
        {ids => (
          <input
            {...ids}
            ref={field}
            className={parts.input}
            autoComplete="off"
            maxLength={100}
            value={name}
            onChange={event => setName(event.currentTarget.value)}
          />
        )}
      </Field>
      <Choices
        legend={t.keys.permission}
        options={grants[props.role].map(value => ({
          value,
          label: t.permissions[value],
          meaning: t.permissionMeans[value],
        }))}
        value={permissions}
        onValue={setPermissions}
      />
      {servers.length > 0 && (
        <Field label={t.keys.server} help={t.keys.serverHelp} error={fieldProblem(create.error, 'server_id')}>
          {ids => (
            <select
              {...ids}
              className={parts.input}
              value={server}
              onChange={event => setServer(event.currentTarget.value)}
            >
              <option value="">{t.keys.allServers}</option>
              {servers.map(({ id, hostname }) => (
                <option key={id} value={id}>
                  {t.keys.oneServer(nameOf(hostname))}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Limits
        scopes={scopes}
        onScopes={setScopes}
        networks={networks}
        onNetworks={setNetworks}
        error={sourceProblem(create.error)}
      />
      <Field label={t.keys.expiry} error={fieldProblem(create.error, 'expires_at')}>
        {ids => (
          <select
            {...ids}
            className={parts.input}
            value={life}
            onChange={event => setLife(Number(event.currentTarget.value))}
          >
            {lives.map(days => (
              <option key={days} value={days}>
                {t.keys.days(days)}
              </option>
            ))}
            <option value={0}>{t.keys.never}</option>
          </select>
        )}
      </Field>
      <Refusal error={create.error} />
      <div className={parts.row}>
        <Button type="submit" loading={create.isPending}>
          {t.keys.createNow}
        </Button>
        <Button variant="default" onClick={props.onClose}>
          {textsOf(commonTexts).cancel}
        </Button>
      </div>
    </form>
  )
}

const sourceProblem = (error: unknown) =>
  fieldProblem(error, 'source_networks') ?? fieldProblem(error, 'source_networks/0')

/** What narrows a key further: families of endpoints, and where it is used from. */
const Limits = (props: {
  scopes: readonly Scope[]
  onScopes: (scopes: readonly Scope[]) => void
  networks: string
  onNetworks: (networks: string) => void
  error: string | undefined
}) => {
  const t = textsOf(limitsTexts)
  const { scopes, onScopes } = props
  return (
    <>
      <fieldset className={styles.choices}>
        <legend>{t.legend}</legend>
        <p className={parts.help}>{t.help}</p>
        <div className={parts.facts}>
          {(Object.keys(t.scopes) as Scope[]).map(scope => (
            <Check
              key={scope}
              label={t.scopes[scope]}
              checked={scopes.includes(scope)}
              onChecked={on => onScopes(on ? [...scopes, scope] : scopes.filter(each => each !== scope))}
            />
          ))}
        </div>
      </fieldset>
      <Field label={t.networks} help={t.networksHelp} error={props.error}>
        {ids => (
          <input
            {...ids}
            className={parts.input}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            dir="ltr"
            maxLength={2000}
            value={props.networks}
            onChange={event => props.onNetworks(event.currentTarget.value)}
          />
        )}
      </Field>
    </>
  )
}
/** The limits of a key beside its permission, in one line. */
const Limited = ({ of }: { of: Key }) => {
  const t = textsOf(limitsTexts)
  return (
    <small>
      {of.scopes === null ? t.all : of.scopes.map(scope => t.scopes[scope]).join(', ')}
      {of.source_networks !== null && ` · ${t.from(of.source_networks.join(', '))}`}
    </small>
  )
}

/** Shown once, with a line that works; closed only by Done. */
const ShownOnce = ({ made, onDone }: { made: Made; onDone: () => void }) => {
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

const Server = ({ id }: { id: string | null }) => {
  const t = textsOf(identityTexts).keys
  const server = useQuery({ ...summaryQuery, enabled: id !== null }).data?.servers.find(known => known.id === id)
  return <>{id === null ? t.allServers : t.oneServer(server ? nameOf(server.hostname) : id)}</>
}
const Expiry = ({ at }: { at: string | null }) => {
  const t = textsOf(identityTexts).keys
  const date = at === null ? null : Date.parse(at)
  const left = useWords(now =>
    date === null ? 'never' : date <= now ? 'over' : date - now < 7 * day ? 'soon' : 'later',
  )
  const words = useWords(now => (date === null ? '' : shortDate(date, now)))
  if (at === null) return <>{t.never}</>
  if (left === 'over') return <State is="expired" />
  if (left === 'soon') return <Mark tone="warn">{`${words} · ${t.soon}`}</Mark>
  return <time dateTime={at}>{words}</time>
}

/** When and from where it was used last. */
const Used = ({ of }: { of: Key }) => {
  const t = textsOf(identityTexts)
  if (of.last_used === null) return <>{t.keys.unused}</>
  return (
    <>
      <Time at={of.last_used} />
      {of.last_used_from !== null && (
        <>
          {' '}
          {t.sessions.from}{' '}
          <Link to="/ip/$addr" params={{ addr: of.last_used_from }} className={parts.mono}>
            {of.last_used_from}
          </Link>
        </>
      )}
    </>
  )
}

/** Those that end within a week, said above the list: afterwards what uses them stands still. */
const EndingSoon = ({ rows }: { rows: readonly Key[] }) => {
  const t = textsOf(identityTexts).keys
  const ending = useWords(now =>
    rows
      .filter(({ expires_at }) => {
        const left = expires_at === null ? 0 : Date.parse(expires_at) - now
        return left > 0 && left < 7 * day
      })
      .map(({ name }) => nameOf(name))
      .join(', '),
  )
  return ending === '' ? null : <p className={parts.warn}>{t.endingSoon(ending)}</p>
}

interface Rows {
  readonly rows: readonly Key[]
  readonly onRevoke: (key: Key) => void
}
const Table = ({ rows, onRevoke }: Rows) => {
  const t = textsOf(identityTexts)
  return (
    <div className={parts.frame} tabIndex={0} role="region" aria-label={t.keys.caption}>
      <table className={parts.table}>
        <caption className={parts.hidden}>{t.keys.caption}</caption>
        <thead>
          <tr>
            {Object.entries(t.keys.columns).map(([key, name]) => (
              <th key={key} scope="col" className={key === 'act' ? parts.last : undefined}>
                {key === 'act' ? <span className={parts.hidden}>{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(key => (
            <tr key={key.id}>
              <td className={styles.names}>
                <strong>
                  <Stranger text={key.name} most={60} />
                </strong>
              </td>
              <td className={parts.mono}>{key.prefix}…</td>
              <td>
                {t.permissions[key.permissions]} <Limited of={key} />
              </td>
              <td>
                <Server id={key.server_id} />
              </td>
              <td>
                <Expiry at={key.expires_at} />
              </td>
              <td>
                <Used of={key} />
              </td>
              <td>
                <Time at={key.created_at} />
              </td>
              <td className={parts.last}>
                <Button
                  variant="default"
                  size="compact-sm"
                  aria-label={t.keys.revokeOf(nameOf(key.name))}
                  onClick={() => onRevoke(key)}
                >
                  {t.keys.revoke}
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
const Cards = ({ rows, onRevoke }: Rows) => {
  const t = textsOf(identityTexts)
  return (
    <ul className={parts.cards}>
      {rows.map(key => (
        <li key={key.id} className={parts.card}>
          <div className={parts.cardTop}>
            <strong>
              <Stranger text={key.name} most={60} />
            </strong>
            <span>{t.permissions[key.permissions]}</span>
          </div>
          <div className={parts.facts}>
            <span className={parts.mono}>{key.prefix}…</span>
            <span>
              <Limited of={key} />
            </span>
            <span>
              <Server id={key.server_id} />
            </span>
            <span>
              {t.keys.columns.expires}: <Expiry at={key.expires_at} />
            </span>
            <span>
              {t.keys.columns.used}: <Used of={key} />
            </span>
          </div>
          <Button
            variant="default"
            size="xs"
            aria-label={t.keys.revokeOf(nameOf(key.name))}
            onClick={() => onRevoke(key)}
          >
            {t.keys.revoke}
          </Button>
        </li>
      ))}
    </ul>
  )
}
