import type { FormEvent } from 'react'
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { announce } from '../../kit/announce.tsx'
import { Field } from '../../kit/field.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, Trouble, fieldProblem } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { Check, Choices } from '../identity/choices.tsx'
import { settingsQuery } from '../identity/queries.ts'
import identity from '../identity/identity.module.css'
import { useDraft } from '../../kit/draft.ts'
import { Help } from './fields.tsx'
import { SaveBar, SettingsPage } from './settings-page.tsx'
import { settingsTexts } from './settings.texts.ts'
import { asTyped, readTimeout } from './typed.ts'

type Security = Reply<'GET /settings'>['security']

/** How many requests the count of users may take. */
const mostPages = 10
/** How many could only set up a second factor, once it is required. */
const factorsQuery = queryOptions({
  queryKey: ['users', 'factors'],
  queryFn: async ({ signal }) => {
    let none = 0
    for (let page = 1; page <= mostPages; page++) {
      const { users, total } = await api.call('GET /users', { query: { page, limit: 100 }, signal })
      none += users.filter(user => !user.mfa_enabled && user.oauth_provider === null).length
      if (page * 100 >= total) return { none, total }
    }
    return null
  },
})

export const SecuritySettings = () => {
  const t = textsOf(settingsTexts)
  const settings = useQuery(settingsQuery)
  return (
    <SettingsPage title={t.security}>
      <Trouble what={t.what} query={settings} />
      {settings.isPending && <Waiting lines={4} />}
      {settings.data && <Form is={settings.data.security} />}
    </SettingsPage>
  )
}

const typedOf = (is: Security) => ({
  timeout: asTyped(is.session_timeout),
  length: String(is.password_min_length),
  required: is.mfa_required,
  passkey: is.passkey_required,
  common: is.refuse_common_passwords,
})

const Form = ({ is }: { is: Security }) => {
  const t = textsOf(settingsTexts)
  const draft = useDraft(typedOf(is), { name: 'security' })
  const { timeout, length, required, passkey, common } = draft.values
  const seconds = readTimeout(timeout)
  const characters = /^\d{1,3}$/.test(length.trim()) ? Number(length) : 0
  const errors = {
    timeout: seconds === null ? t.timeoutWrong : undefined,
    length: characters < 8 || characters > 128 ? t.lengthWrong : undefined,
  }
  const word = (on: boolean) => (on ? t.on : t.off)
  const changes = [
    ...(timeout.trim() === asTyped(is.session_timeout) || seconds === is.session_timeout
      ? []
      : [t.change(t.timeout, asTyped(is.session_timeout), timeout.trim())]),
    ...(length.trim() === String(is.password_min_length)
      ? []
      : [t.change(t.length, number(is.password_min_length), length.trim())]),
    ...(required === is.mfa_required ? [] : [t.change(t.factor, word(is.mfa_required), word(required))]),
    ...(passkey === is.passkey_required
      ? []
      : [t.change(t.passkey, t.passkeyFor[is.passkey_required], t.passkeyFor[passkey])]),
    ...(common === is.refuse_common_passwords
      ? []
      : [t.change(t.common, word(is.refuse_common_passwords), word(common))]),
  ]
  const save = useMutation({
    mutationFn: async () => {
      const fresh = await queries.fetchQuery({ ...settingsQuery, staleTime: 0 })
      if (!draft.isCurrent(typedOf(fresh.security))) return
      await api.call('PATCH /settings', {
        body: {
          security: {
            ...(seconds === null || seconds === is.session_timeout ? {} : { session_timeout: seconds }),
            ...(characters === is.password_min_length ? {} : { password_min_length: characters }),
            ...(required === is.mfa_required ? {} : { mfa_required: required }),
            ...(passkey === is.passkey_required ? {} : { passkey_required: passkey }),
            ...(common === is.refuse_common_passwords ? {} : { refuse_common_passwords: common }),
          },
        },
      })
      await queries.invalidateQueries({ queryKey: settingsQuery.queryKey })
      draft.reset()
      announce(t.saved)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!errors.timeout && !errors.length && changes.length > 0 && !save.isPending) save.mutate()
  }
  const discard = () => {
    draft.reset()
    save.reset()
  }
  const names = { timeout: t.timeout, length: t.length, required: t.factor, passkey: t.passkey, common: t.common }
  return (
    <form className={`${parts.form ?? ''} ${identity.narrow ?? ''}`} onSubmit={submit} noValidate>
      <Panel>
        <div className={parts.form}>
          <Field
            label={t.timeout}
            help={<Help of="security.session_timeout">{t.timeoutHelp}</Help>}
            error={errors.timeout ?? fieldProblem(save.error, 'security.session_timeout')}
          >
            {ids => (
              <input
                {...ids}
                className={parts.input}
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                value={timeout}
                onChange={event => draft.set({ timeout: event.currentTarget.value })}
              />
            )}
          </Field>
          <Field
            label={t.length}
            help={<Help of="security.password_min_length">{t.lengthHelp}</Help>}
            error={errors.length ?? fieldProblem(save.error, 'security.password_min_length')}
          >
            {ids => (
              <input
                {...ids}
                className={parts.input}
                inputMode="numeric"
                autoComplete="off"
                maxLength={3}
                value={length}
                onChange={event => draft.set({ length: event.currentTarget.value })}
              />
            )}
          </Field>
          <div>
            <Check
              label={t.factor}
              meaning={<Help of="security.mfa_required">{t.factorHelp}</Help>}
              checked={required}
              onChecked={on => draft.set({ required: on })}
            />
            <Without required={required && !is.mfa_required} />
          </div>
          <Choices
            legend={t.passkey}
            options={(['off', 'admins', 'all'] as const).map(value => ({ value, label: t.passkeyFor[value] }))}
            value={passkey}
            onValue={value => draft.set({ passkey: value })}
          >
            <small className={parts.help}>
              <Help of="security.passkey_required">{t.passkeyHelp}</Help>
            </small>
          </Choices>
          <Check
            label={t.common}
            meaning={<Help of="security.refuse_common_passwords">{t.commonHelp}</Help>}
            checked={common}
            onChecked={on => draft.set({ common: on })}
          />
        </div>
      </Panel>
      <Refusal error={save.error} />
      <SaveBar
        changes={changes}
        overtaken={draft.overtaken.map(name => names[name])}
        busy={save.isPending}
        onDiscard={discard}
      />
    </form>
  )
}

/** Said before it is saved: requiring a second factor stops whoever has none. */
const Without = ({ required }: { required: boolean }) => {
  const t = textsOf(settingsTexts)
  const me = useMe()
  const factors = useQuery(factorsQuery).data
  if (factors === undefined) return null
  const words = factors === null ? t.withoutMany : t.without(factors.none, factors.total)
  return (
    <p className={required && factors?.none !== 0 ? parts.warn : parts.help} role="status">
      {words}{' '}
      {required && me && !me.mfa_enabled && (
        <>
          {t.youToo} <Link to="/account/security">{t.toAccount}</Link>
        </>
      )}
    </p>
  )
}
