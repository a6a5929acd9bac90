import { useState } from 'react'
import type { FormEvent } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api, statusOf } from '../../api/client.ts'
import { optionsQuery, queries } from '../../api/queries.ts'
import { announce } from '../../parts/announce.tsx'
import { CopyField } from '../../parts/copy.tsx'
import { Field } from '../../parts/field.tsx'
import { Panel } from '../../parts/page.tsx'
import parts from '../../parts/parts.module.css'
import { Refusal, Trouble } from '../../parts/trouble.tsx'
import { Waiting } from '../../parts/waiting.tsx'
import { ownAddress } from '../../place.ts'
import { textsOf } from '../../texts/catalogue.ts'
import { commonTexts } from '../../texts/common.texts.ts'
import { Check } from '../identity/choices.tsx'
import { oauthQuery } from '../identity/queries.ts'
import { RoleChoice } from '../identity/role-choice.tsx'
import identity from '../identity/identity.module.css'
import { SaveBar, SettingsPage } from './settings-page.tsx'
import { settingsTexts } from './settings.texts.ts'
import { readNames } from './typed.ts'

type Oauth = Reply<'GET /settings/oauth'>
type ProviderId = 'provider_a' | 'provider_b'

/** One provider as it is typed. The credentials go in and never come out. */
interface Typed {
  readonly enabled: boolean
  readonly clientId: string
  readonly clientSecret: string
  /** Logins, or domains. */
  readonly allowed: string
}
const lines = (names: readonly string[]) => names.join('\n')
const same = (typed: string, names: readonly string[]) => readNames(typed).join('\n') === names.join('\n')
const credentials = ({ clientId, clientSecret }: Typed) => ({
  ...(clientId.trim() ? { client_id: clientId.trim() } : {}),
  ...(clientSecret ? { client_secret: clientSecret } : {}),
})

export const OauthSettings = () => {
  const t = textsOf(settingsTexts)
  const oauth = useQuery(oauthQuery)
  return (
    <SettingsPage title={t.oauth}>
      <Trouble what={t.what} query={oauth} />
      {oauth.isPending && <Waiting />}
      {oauth.data && <Form key={JSON.stringify(oauth.data)} is={oauth.data} />}
    </SettingsPage>
  )
}

const Form = ({ is }: { is: Oauth }) => {
  const t = textsOf(settingsTexts)
  const fresh = {
    a: {
      enabled: is.provider_a.enabled,
      clientId: '',
      clientSecret: '',
      allowed: lines(is.provider_a.allowed_users),
    },
    b: {
      enabled: is.provider_b.enabled,
      clientId: '',
      clientSecret: '',
      allowed: lines(is.provider_b.allowed_domains),
    },
  }
  const [a, setA] = useState<Typed>(fresh.a)
  const [b, setB] = useState<Typed>(fresh.b)
  const [org, setOrg] = useState(is.provider_a.allowed_org ?? '')
  const [role, setRole] = useState(is.default_role)
  const [localOff, setLocalOff] = useState(is.local_login_disabled)
  const orgIs = is.provider_a.allowed_org ?? ''

  const word = (on: boolean) => (on ? t.on : t.off)
  const setOrNot = (set: boolean) => (set ? t.set : t.notSet)
  const listed = (names: readonly string[]) => (names.length === 0 ? t.empty : names.join(', '))
  const changesOf = (id: ProviderId, typed: Typed, list: string, names: readonly string[]) => [
    ...(typed.enabled === is[id].enabled
      ? []
      : [t.change(`${t[id]}, ${t.enabled}`, word(is[id].enabled), word(typed.enabled))]),
    ...(typed.clientId.trim()
      ? [t.change(`${t[id]}, ${t.clientId}`, setOrNot(is[id].client_id_set), typed.clientId.trim())]
      : []),
    ...(typed.clientSecret
      ? [t.change(`${t[id]}, ${t.clientSecret}`, setOrNot(is[id].client_secret_set), t.changedTo)]
      : []),
    ...(same(typed.allowed, names)
      ? []
      : [t.change(`${t[id]}, ${list}`, listed(names), listed(readNames(typed.allowed)))]),
  ]
  const roles = textsOf(commonTexts).roles
  const changes = [
    ...changesOf('provider_a', a, t.users, is.provider_a.allowed_users),
    ...(org.trim() === orgIs ? [] : [t.change(t.org, orgIs || t.empty, org.trim() || t.empty)]),
    ...changesOf('provider_b', b, t.domains, is.provider_b.allowed_domains),
    ...(role === is.default_role ? [] : [t.change(t.defaultRole, roles[is.default_role], roles[role])]),
    ...(localOff === is.local_login_disabled
      ? []
      : [t.change(t.localOff, word(is.local_login_disabled), word(localOff))]),
  ]
  const save = useMutation({
    mutationFn: () =>
      api.call('PATCH /settings/oauth', {
        body: {
          provider_a: {
            enabled: a.enabled,
            ...credentials(a),
            allowed_users: [...readNames(a.allowed)],
            allowed_org: org.trim() || null,
          },
          provider_b: { enabled: b.enabled, ...credentials(b), allowed_domains: [...readNames(b.allowed)] },
          default_role: role,
          ...(localOff === is.local_login_disabled ? {} : { local_login_disabled: localOff }),
        },
      }),
    onSuccess: async () => {
      announce(t.saved)
      // The credentials are kept, and never come back.
      setA(typed => ({ ...typed, clientId: '', clientSecret: '' }))
      setB(typed => ({ ...typed, clientId: '', clientSecret: '' }))
      await queries.invalidateQueries({ queryKey: oauthQuery.queryKey })
      await queries.invalidateQueries({ queryKey: optionsQuery.queryKey })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (changes.length > 0 && !save.isPending) save.mutate()
  }
  const discard = () => {
    setA(fresh.a)
    setB(fresh.b)
    setOrg(orgIs)
    setRole(is.default_role)
    setLocalOff(is.local_login_disabled)
    save.reset()
  }
  return (
    <form className={parts.form} onSubmit={submit} noValidate>
      <div className={identity.columns}>
        <Provider
          id="provider_a"
          about={t.aboutA}
          is={is.provider_a}
          typed={a}
          onTyped={setA}
          list={{ label: t.users, help: t.usersHelp }}
          nobody={readNames(a.allowed).length === 0 && !org.trim()}
        >
          <Field label={t.org} help={t.orgHelp}>
            {ids => (
              <input
                {...ids}
                className={parts.input}
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                dir="ltr"
                maxLength={100}
                value={org}
                onChange={event => setOrg(event.currentTarget.value)}
              />
            )}
          </Field>
        </Provider>
        <Provider
          id="provider_b"
          about={t.aboutB}
          is={is.provider_b}
          typed={b}
          onTyped={setB}
          list={{ label: t.domains, help: t.domainsHelp }}
          nobody={readNames(b.allowed).length === 0}
        />
        <Panel>
          <RoleChoice legend={t.defaultRole} value={role} onValue={setRole} />
        </Panel>
        <Panel title={t.local}>
          <Check label={t.localOff} meaning={t.localHelp} checked={localOff} onChecked={setLocalOff} />
        </Panel>
      </div>
      {statusOf(save.error) === 409 && (
        <p className={parts.warn} role="status">
          {t.localRefused} {t.localHelp}
        </p>
      )}
      <Refusal error={save.error} />
      <SaveBar changes={changes} busy={save.isPending} onDiscard={discard} />
    </form>
  )
}

const Provider = (props: {
  id: ProviderId
  about: string
  is: { readonly client_id_set: boolean; readonly client_secret_set: boolean }
  typed: Typed
  onTyped: (typed: Typed) => void
  list: { readonly label: string; readonly help: string }
  nobody: boolean
  children?: React.ReactNode
}) => {
  const t = textsOf(settingsTexts)
  const { id, is, typed, onTyped } = props
  const base = useQuery(optionsQuery).data?.base_url ?? ownAddress
  const complete = (is.client_id_set || typed.clientId.trim()) && (is.client_secret_set || typed.clientSecret)
  return (
    <Panel title={t[id]}>
      <div className={parts.form}>
        <p className={parts.help}>{props.about}</p>
        <div className={identity.block}>
          <p>{t.redirect}</p>
          <CopyField text={`${base}/api/v1/auth/${id}/callback`} label={`${t[id]}: ${t.redirect}`} />
        </div>
        <Check
          label={t.enabled}
          checked={typed.enabled}
          onChecked={enabled => onTyped({ ...typed, enabled })}
          meaning={typed.enabled ? (complete ? props.nobody && t.nobody : t.incomplete) : undefined}
        />
        <Field label={t.clientId} help={is.client_id_set ? t.isSet : t.isNotSet}>
          {ids => (
            <input
              {...ids}
              className={parts.input}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              dir="ltr"
              maxLength={512}
              value={typed.clientId}
              onChange={event => onTyped({ ...typed, clientId: event.currentTarget.value })}
            />
          )}
        </Field>
        <Field label={t.clientSecret} help={is.client_secret_set ? t.isSet : t.isNotSet}>
          {ids => (
            <input
              {...ids}
              className={parts.input}
              type="password"
              // Not one of the passwords that the browser keeps.
              autoComplete="new-password"
              dir="ltr"
              maxLength={1024}
              value={typed.clientSecret}
              onChange={event => onTyped({ ...typed, clientSecret: event.currentTarget.value })}
            />
          )}
        </Field>
        <Field label={props.list.label} help={props.list.help}>
          {ids => (
            <textarea
              {...ids}
              className={parts.input}
              rows={3}
              autoCapitalize="none"
              spellCheck={false}
              dir="ltr"
              value={typed.allowed}
              onChange={event => onTyped({ ...typed, allowed: event.currentTarget.value })}
            />
          )}
        </Field>
        {props.children}
      </div>
    </Panel>
  )
}
