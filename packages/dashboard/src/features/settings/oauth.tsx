import type { FormEvent } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api, statusOf } from '../../api/client.ts'
import { optionsQuery, queries } from '../../api/queries.ts'
import { announce } from '../../kit/announce.tsx'
import { CopyField } from '../../kit/copy.tsx'
import { Field } from '../../kit/field.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { Check } from '../identity/choices.tsx'
import { oauthQuery } from '../identity/queries.ts'
import { RoleChoice } from '../identity/role-choice.tsx'
import identity from '../identity/identity.module.css'
import { useDraft } from '../../kit/draft.ts'
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
const typedA = ({ provider_a: is }: Oauth): Typed => ({
  enabled: is.enabled,
  clientId: '',
  clientSecret: '',
  allowed: lines(is.allowed_users),
})
const typedB = ({ provider_b: is }: Oauth): Typed => ({
  enabled: is.enabled,
  clientId: '',
  clientSecret: '',
  allowed: lines(is.allowed_domains),
})
const typedRest = (is: Oauth) => ({
  org: is.provider_a.allowed_org ?? '',
  role: is.default_role,
  localOff: is.local_login_disabled,
})
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
      {oauth.data && <Form is={oauth.data} />}
    </SettingsPage>
  )
}

const Form = ({ is }: { is: Oauth }) => {
  const t = textsOf(settingsTexts)
  const secrets = ['clientSecret'] as const
  const drafts = {
    a: useDraft(typedA(is), { name: 'oauth a', secrets }),
    b: useDraft(typedB(is), { name: 'oauth b', secrets }),
    rest: useDraft(typedRest(is), { name: 'oauth' }),
  }
  const [a, b] = [drafts.a.values, drafts.b.values]
  const { org, role, localOff } = drafts.rest.values
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
    mutationFn: async () => {
      const fresh = await queries.fetchQuery({ ...oauthQuery, staleTime: 0 })
      const current = [
        drafts.a.isCurrent(typedA(fresh)),
        drafts.b.isCurrent(typedB(fresh)),
        drafts.rest.isCurrent(typedRest(fresh)),
      ]
      if (current.includes(false)) return
      // Only what was touched: what somebody else changed meanwhile stays.
      const [ofA, ofB, ofRest] = [drafts.a.changed, drafts.b.changed, drafts.rest.changed]
      await api.call('PATCH /settings/oauth', {
        body: {
          provider_a: {
            ...(ofA.has('enabled') ? { enabled: a.enabled } : {}),
            ...credentials(a),
            ...(ofA.has('allowed') ? { allowed_users: [...readNames(a.allowed)] } : {}),
            ...(ofRest.has('org') ? { allowed_org: org.trim() || null } : {}),
          },
          provider_b: {
            ...(ofB.has('enabled') ? { enabled: b.enabled } : {}),
            ...credentials(b),
            ...(ofB.has('allowed') ? { allowed_domains: [...readNames(b.allowed)] } : {}),
          },
          ...(ofRest.has('role') ? { default_role: role } : {}),
          ...(ofRest.has('localOff') ? { local_login_disabled: localOff } : {}),
        },
      })
      await queries.invalidateQueries({ queryKey: oauthQuery.queryKey })
      await queries.invalidateQueries({ queryKey: optionsQuery.queryKey })
      // The credentials are kept, and never come back.
      reset()
      announce(t.saved)
    },
  })
  const reset = () => {
    for (const draft of Object.values(drafts)) draft.reset()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (changes.length > 0 && !save.isPending) save.mutate()
  }
  const discard = () => {
    reset()
    save.reset()
  }
  const names = {
    enabled: t.enabled,
    clientId: t.clientId,
    clientSecret: t.clientSecret,
    org: t.org,
    role: t.defaultRole,
    localOff: t.localOff,
  }
  const overtaken = [
    ...drafts.a.overtaken.map(name => `${t.provider_a}, ${name === 'allowed' ? t.users : names[name]}`),
    ...drafts.b.overtaken.map(name => `${t.provider_b}, ${name === 'allowed' ? t.domains : names[name]}`),
    ...drafts.rest.overtaken.map(name => names[name]),
  ]
  return (
    <form className={parts.form} onSubmit={submit} noValidate>
      <div className={identity.columns}>
        <Provider
          id="provider_a"
          about={t.aboutA}
          is={is.provider_a}
          typed={a}
          onTyped={drafts.a.set}
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
                onChange={event => drafts.rest.set({ org: event.currentTarget.value })}
              />
            )}
          </Field>
        </Provider>
        <Provider
          id="provider_b"
          about={t.aboutB}
          is={is.provider_b}
          typed={b}
          onTyped={drafts.b.set}
          list={{ label: t.domains, help: t.domainsHelp }}
          nobody={readNames(b.allowed).length === 0}
        />
        <Panel>
          <RoleChoice legend={t.defaultRole} value={role} onValue={chosen => drafts.rest.set({ role: chosen })} />
        </Panel>
        <Panel title={t.local}>
          <Check
            label={t.localOff}
            meaning={t.localHelp}
            checked={localOff}
            onChecked={off => drafts.rest.set({ localOff: off })}
          />
        </Panel>
      </div>
      {statusOf(save.error) === 409 && (
        <p className={parts.warn} role="status">
          {t.localRefused} {t.localHelp}
        </p>
      )}
      <Refusal error={save.error} />
      <SaveBar changes={changes} overtaken={overtaken} busy={save.isPending} onDiscard={discard} />
    </form>
  )
}

const Provider = (props: {
  id: ProviderId
  about: string
  is: { readonly client_id_set: boolean; readonly client_secret_set: boolean }
  typed: Typed
  onTyped: (change: Partial<Typed>) => void
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
          onChecked={enabled => onTyped({ enabled })}
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
              onChange={event => onTyped({ clientId: event.currentTarget.value })}
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
              onChange={event => onTyped({ clientSecret: event.currentTarget.value })}
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
              onChange={event => onTyped({ allowed: event.currentTarget.value })}
            />
          )}
        </Field>
        {props.children}
      </div>
    </Panel>
  )
}
