import type { FormEvent } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { announce } from '../../kit/announce.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Time } from '../../kit/time.tsx'
import { Refusal, Trouble, fieldProblem } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { Check } from '../identity/choices.tsx'
import { reputationQuery } from '../identity/queries.ts'
import identity from '../identity/identity.module.css'
import { useDraft } from '../../kit/draft.ts'
import { Help, SecretSetting, TextSetting, secretChange, secretOf } from './fields.tsx'
import type { SecretDraft } from './fields.tsx'
import { SaveBar, SettingsPage } from './settings-page.tsx'
import { settingsTexts } from './settings.texts.ts'
import styles from './settings.module.css'
import { readWhole } from './typed.ts'

type Reputation = Reply<'GET /settings/reputation'>
interface Typed {
  readonly enabled: boolean
  readonly key: SecretDraft
  readonly limit: string
}
const typedOf = (is: Reputation): Typed => ({ enabled: is.enabled, key: '', limit: String(is.rate_limit) })

export const ReputationSettings = () => {
  const t = textsOf(settingsTexts)
  const reputation = useQuery(reputationQuery)
  return (
    <SettingsPage title={t.reputation}>
      <Trouble what={t.what} query={reputation} />
      {reputation.isPending && <Waiting lines={4} />}
      {reputation.data && <Form is={reputation.data} />}
    </SettingsPage>
  )
}

const Form = ({ is }: { is: Reputation }) => {
  const t = textsOf(settingsTexts)
  const draft = useDraft(typedOf(is), { name: 'reputation', secrets: ['key'] })
  const { values, changed } = draft
  const limit = readWhole(values.limit, 0, 1_000_000)
  const names = { enabled: t.reputationEnabled, key: t.reputationKey, limit: t.reputationLimit }
  const word = (on: boolean) => (on ? t.on : t.off)
  const changes = [
    ...(changed.has('enabled') ? [t.change(names.enabled, word(is.enabled), word(values.enabled))] : []),
    ...(changed.has('key') ? [secretChange(names.key, is.api_key_set, values.key)] : []),
    ...(changed.has('limit') ? [t.change(names.limit, number(is.rate_limit), values.limit.trim())] : []),
  ]
  const save = useMutation({
    mutationFn: async () => {
      const fresh = await queries.fetchQuery({ ...reputationQuery, staleTime: 0 })
      if (!draft.isCurrent(typedOf(fresh))) return
      const api_key = secretOf(values.key)
      await api.call('PATCH /settings/reputation', {
        body: {
          ...(changed.has('enabled') ? { enabled: values.enabled } : {}),
          ...(api_key === undefined ? {} : { api_key }),
          ...(changed.has('limit') && limit !== null ? { rate_limit: limit } : {}),
        },
      })
      await queries.invalidateQueries({ queryKey: ['settings'] })
      draft.reset()
      announce(t.saved)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (limit !== null && changed.size > 0 && !save.isPending) save.mutate()
  }
  const willHaveKey = values.key === '' ? is.api_key_set : values.key !== null
  return (
    <form className={`${parts.form ?? ''} ${identity.narrow ?? ''}`} onSubmit={submit} noValidate>
      <Panel>
        <div className={parts.form}>
          <p className={parts.muted}>{t.reputationAbout}</p>
          <Check
            label={names.enabled}
            meaning={<Help of="reputation.enabled">{t.reputationEnabledHelp}</Help>}
            checked={values.enabled}
            onChecked={enabled => draft.set({ enabled })}
          />
          {values.enabled && !willHaveKey && (
            <p className={parts.warn} role="status">
              {t.reputationNoKey}
            </p>
          )}
          <SecretSetting
            label={names.key}
            help={<Help of="reputation.api_key">{t.reputationKeyHelp}</Help>}
            error={fieldProblem(save.error, 'api_key')}
            isSet={is.api_key_set}
            value={values.key}
            onValue={key => draft.set({ key })}
          />
          <TextSetting
            label={names.limit}
            help={<Help of="reputation.rate_limit">{t.reputationLimitHelp}</Help>}
            error={limit === null ? t.reputationLimitWrong : fieldProblem(save.error, 'rate_limit')}
            most={9}
            kind="numeric"
            value={values.limit}
            onValue={typed => draft.set({ limit: typed })}
          />
        </div>
      </Panel>
      <Panel title={t.reputationUsed}>
        <dl className={parts.details}>
          <dt>{t.reputationUsed}</dt>
          <dd>
            {t.reputationUsedOf(number(is.reports_today), number(is.rate_limit))}
            {is.rate_limit > 0 && (
              <progress
                className={styles.meter}
                aria-label={t.reputationUsed}
                max={is.rate_limit}
                value={Math.min(is.reports_today, is.rate_limit)}
              />
            )}
          </dd>
          <dt>{t.reputationLast}</dt>
          <dd>{is.last_report ? <Time at={is.last_report} /> : t.reputationNever}</dd>
        </dl>
      </Panel>
      <Refusal error={save.error} />
      <SaveBar
        changes={changes}
        overtaken={draft.overtaken.map(name => names[name])}
        busy={save.isPending}
        onDiscard={() => {
          draft.reset()
          save.reset()
        }}
      />
    </form>
  )
}
