import type { FormEvent } from 'react'
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { announce } from '../../kit/announce.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, Trouble, fieldProblem } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Check, Choices } from '../identity/choices.tsx'
import { settingsQuery } from '../identity/queries.ts'
import identity from '../identity/identity.module.css'
import { useDraft } from '../../kit/draft.ts'
import { Help, TextSetting } from './fields.tsx'
import { bodyOf, changesOf, errorsOf, typedOf } from './security-form.ts'
import type { Security, TypedSecurity } from './security-form.ts'
import { SaveBar, SettingsPage } from './settings-page.tsx'
import { settingsTexts } from './settings.texts.ts'

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

const Form = ({ is }: { is: Security }) => {
  const t = textsOf(settingsTexts)
  const draft = useDraft(typedOf(is), { name: 'security' })
  const errors = errorsOf(draft.values)
  const changes = changesOf(is, draft.values)
  const save = useMutation({
    mutationFn: async () => {
      const fresh = await queries.fetchQuery({ ...settingsQuery, staleTime: 0 })
      if (!draft.isCurrent(typedOf(fresh.security))) return
      await api.call('PATCH /settings', { body: { security: bodyOf(is, draft.values) } })
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
  const names = {
    timeout: t.timeout,
    length: t.length,
    required: t.factor,
    passkey: t.passkey,
    common: t.common,
    tests: t.selfTests,
  }
  return (
    <form className={`${parts.form ?? ''} ${identity.narrow ?? ''}`} onSubmit={submit} noValidate>
      <Panel>
        <div className={parts.form}>
          <Rules is={is} typed={draft.values} set={draft.set} errors={errors} refusal={save.error} />
          <Tests typed={draft.values} set={draft.set} />
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

interface Part {
  readonly typed: TypedSecurity
  readonly set: (given: Partial<TypedSecurity>) => void
}

/** How users sign in, and for how long. */
const Rules = (props: Part & { is: Security; errors: ReturnType<typeof errorsOf>; refusal: Error | null }) => {
  const t = textsOf(settingsTexts)
  const { is, typed, set, errors, refusal } = props
  return (
    <>
      <TextSetting
        label={t.timeout}
        help={<Help of="security.session_timeout">{t.timeoutHelp}</Help>}
        error={errors.timeout ?? fieldProblem(refusal, 'security.session_timeout')}
        most={12}
        value={typed.timeout}
        onValue={timeout => set({ timeout })}
      />
      <TextSetting
        label={t.length}
        help={<Help of="security.password_min_length">{t.lengthHelp}</Help>}
        error={errors.length ?? fieldProblem(refusal, 'security.password_min_length')}
        most={3}
        kind="numeric"
        value={typed.length}
        onValue={length => set({ length })}
      />
      <div>
        <Check
          label={t.factor}
          meaning={<Help of="security.mfa_required">{t.factorHelp}</Help>}
          checked={typed.required}
          onChecked={required => set({ required })}
        />
        <Without required={typed.required && !is.mfa_required} />
      </div>
      <Choices
        legend={t.passkey}
        options={(['off', 'admins', 'all'] as const).map(value => ({ value, label: t.passkeyFor[value] }))}
        value={typed.passkey}
        onValue={passkey => set({ passkey })}
      >
        <small className={parts.help}>
          <Help of="security.passkey_required">{t.passkeyHelp}</Help>
        </small>
      </Choices>
      <Check
        label={t.common}
        meaning={<Help of="security.refuse_common_passwords">{t.commonHelp}</Help>}
        checked={typed.common}
        onChecked={common => set({ common })}
      />
    </>
  )
}

/** When servers test by themselves that a ban stops packets. */
const Tests = ({ typed, set }: Part) => {
  const t = textsOf(settingsTexts)
  return (
    <Choices
      legend={t.selfTests}
      options={(['off', 'enrolment', 'daily'] as const).map(value => ({ value, label: t.selfTestsAt[value] }))}
      value={typed.tests}
      onValue={tests => set({ tests })}
    >
      <small className={parts.help}>
        <Help of="security.self_tests">{t.selfTestsHelp}</Help>
      </small>
    </Choices>
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
