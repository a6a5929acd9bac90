import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import { useForm } from '../../kit/form.ts'
import { Form } from '../../kit/form.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { BriefTrouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { CheckField } from '../identity/choices.tsx'
import { settingsQuery } from '../identity/queries.ts'
import { Help } from './fields.tsx'
import { bodyOf, fieldsOf, problemsOf, typedOf } from './security-form.ts'
import type { Security } from './security-form.ts'
import { SettingsSection } from './settings-page.tsx'
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

export const SecuritySettings = () => (
  <SettingsSection title={textsOf(settingsTexts).security} query={useQuery(settingsQuery)}>
    {is => <SecurityForm is={is.security} />}
  </SettingsSection>
)

const useSecurity = (is: Security) =>
  useForm({
    name: 'security',
    is: typedOf(is),
    fields: fieldsOf(),
    problems: problemsOf,
    pathOf: name => `security.${name}`,
    fresh: async () => typedOf((await queries.fetchQuery({ ...settingsQuery, staleTime: 0 })).security),
    parts: [
      {
        send: values => api.call('PATCH /settings', { body: { security: bodyOf(is, values) } }),
      },
    ],
    reread: () => queries.invalidateQueries({ queryKey: settingsQuery.queryKey }),
  })
type SecurityState = ReturnType<typeof useSecurity>

const SecurityForm = ({ is }: { is: Security }) => {
  const t = textsOf(settingsTexts)
  const form = useSecurity(is)
  return (
    <Form form={form}>
      <Panel title={t.signInTitle}>
        <div className={parts.form}>
          <SignIn form={form} wasRequired={is.mfa_required} />
        </div>
      </Panel>
      <Panel title={t.passwordsTitle}>
        <div className={parts.form}>
          <TextField
            {...form.bind('password_min_length')}
            help={<Help of="security.password_min_length">{t.lengthHelp}</Help>}
            most={3}
            kind="numeric"
          />
          <CheckField
            {...form.bind('refuse_common_passwords')}
            meaning={<Help of="security.refuse_common_passwords">{t.commonHelp}</Help>}
          />
        </div>
      </Panel>
      <Panel title={t.serversTitle}>
        <div className={parts.form}>
          <CheckField {...form.bind('own_unban')} meaning={<Help of="security.own_unban">{t.ownUnbanHelp}</Help>} />
          <SelectField
            {...form.bind('self_tests')}
            options={(['off', 'enrolment', 'daily'] as const).map(value => ({ value, text: t.selfTestsAt[value] }))}
            help={<Help of="security.self_tests">{t.selfTestsHelp}</Help>}
          />
        </div>
      </Panel>
    </Form>
  )
}

/** How users sign in, and for how long. */
const SignIn = ({ form, wasRequired }: { form: SecurityState; wasRequired: boolean }) => {
  const t = textsOf(settingsTexts)
  return (
    <>
      <div>
        <CheckField {...form.bind('mfa_required')} meaning={<Help of="security.mfa_required">{t.factorHelp}</Help>} />
        <Without required={form.values.mfa_required && !wasRequired} />
      </div>
      <SelectField
        {...form.bind('passkey_required')}
        options={(['off', 'admins', 'all'] as const).map(value => ({ value, text: t.passkeyFor[value] }))}
        help={<Help of="security.passkey_required">{t.passkeyHelp}</Help>}
      />
      <TextField
        {...form.bind('session_timeout')}
        help={<Help of="security.session_timeout">{t.timeoutHelp}</Help>}
        most={12}
      />
    </>
  )
}

/** Shown before saving: requiring a second factor locks out users without one. */
const Without = ({ required }: { required: boolean }) => {
  const t = textsOf(settingsTexts)
  const me = useMe()
  const query = useQuery(factorsQuery)
  const factors = query.data
  if (factors === undefined) return <BriefTrouble what={t.withoutWhat} query={query} />
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
