import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api, statusOf } from '../../api/client.ts'
import { optionsQuery, queries } from '../../api/queries.ts'
import { CopyField } from '../../kit/copy.tsx'
import { SecretField, TextField } from '../../kit/form-fields.tsx'
import { formTexts } from '../../kit/form.texts.ts'
import { useForm } from '../../kit/form.ts'
import { Form } from '../../kit/form.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { CheckField } from '../identity/choices.tsx'
import { oauthQuery } from '../identity/queries.ts'
import { RoleChoice } from '../identity/role-choice.tsx'
import { bodyOf, fieldsOf, typedOf } from './oauth-form.ts'
import type { Oauth, ProviderId } from './oauth-form.ts'
import { SettingsSection } from './settings-page.tsx'
import { settingsTexts } from './settings.texts.ts'
import { readNames } from './typed.ts'

export const OauthSettings = () => (
  <SettingsSection title={textsOf(settingsTexts).oauth} query={useQuery(oauthQuery)}>
    {is => <OauthForm is={is} />}
  </SettingsSection>
)

const useOauth = (is: Oauth) =>
  useForm({
    name: 'oauth',
    is: typedOf(is),
    fields: fieldsOf(is),
    refusalOf: (name, error) =>
      name === 'localOff' && statusOf(error) === 409 ? textsOf(settingsTexts).localRefused : undefined,
    fresh: async () => typedOf(await queries.fetchQuery({ ...oauthQuery, staleTime: 0 })),
    parts: [
      {
        send: (values, changed) => api.call('PATCH /settings/oauth', { body: bodyOf(values, changed) }),
      },
    ],
    reread: () =>
      Promise.all([oauthQuery, optionsQuery].map(({ queryKey }) => queries.invalidateQueries({ queryKey }))),
  })
type OauthState = ReturnType<typeof useOauth>

const OauthForm = ({ is }: { is: Oauth }) => {
  const t = textsOf(settingsTexts)
  const form = useOauth(is)
  const role = form.bind('role')
  const localOff = form.bind('localOff')
  return (
    <Form form={form}>
      <Provider id="provider_a" about={t.aboutA} is={is} form={form} listHelp={t.usersHelp}>
        <TextField {...form.bind('provider_a.org')} help={t.orgHelp} most={100} dir="ltr" />
      </Provider>
      <Provider id="provider_b" about={t.aboutB} is={is} form={form} listHelp={t.domainsHelp} />
      <Panel>
        <RoleChoice legend={role.label} value={role.value} onValue={role.onValue} isChanged={role.isChanged} />
      </Panel>
      <Panel title={t.local}>
        <CheckField {...localOff} meaning={t.localHelp} />
        {localOff.error && (
          <p className={parts.error} role="alert">
            {localOff.error}
          </p>
        )}
      </Panel>
    </Form>
  )
}

const Provider = (props: {
  id: ProviderId
  about: string
  is: Oauth
  form: OauthState
  listHelp: string
  children?: ReactNode
}) => {
  const t = textsOf(settingsTexts)
  const { id, form } = props
  const is = props.is[id]
  const base = useQuery(optionsQuery).data?.base_url ?? ownAddress
  const typed = form.values
  const isComplete =
    (is.client_id_set || typed[`${id}.client_id`].trim()) && (is.client_secret_set || typed[`${id}.client_secret`])
  const isNobody =
    readNames(typed[`${id}.allowed`]).length === 0 && !(id === 'provider_a' && typed['provider_a.org'].trim())
  return (
    <Panel title={t[id]}>
      <div className={parts.form}>
        <p className={parts.help}>{props.about}</p>
        <div className={parts.block}>
          <p>{t.redirect}</p>
          <CopyField text={`${base}/api/v1/auth/${id}/callback`} label={`${t[id]}: ${t.redirect}`} />
        </div>
        <CheckField
          {...form.bind(`${id}.enabled`)}
          meaning={typed[`${id}.enabled`] ? (isComplete ? isNobody && t.nobody : t.incomplete) : undefined}
        />
        <TextField
          {...form.bind(`${id}.client_id`)}
          help={is.client_id_set ? textsOf(formTexts).isSet : textsOf(formTexts).isNotSet}
          most={512}
          dir="ltr"
        />
        {/* The API takes a new one and removes none. */}
        <SecretField {...form.bind(`${id}.client_secret`)} isSet={is.client_secret_set} canRemove={false} />
        <TextField {...form.bind(`${id}.allowed`)} help={props.listHelp} most={26_000} rows={3} dir="ltr" />
        {props.children}
      </div>
    </Panel>
  )
}
