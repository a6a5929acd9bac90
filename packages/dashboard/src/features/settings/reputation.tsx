import { useQuery } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { SecretField, TextField } from '../../kit/form-fields.tsx'
import type { SecretDraft } from '../../kit/secret-draft.ts'
import { useForm } from '../../kit/form.ts'
import { Form } from '../../kit/form.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { DatedTime, Time } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { CheckField } from '../identity/choices.tsx'
import { reputationQuery } from '../identity/queries.ts'
import { Help } from './fields.tsx'
import { SettingsSection } from './settings-page.tsx'
import { settingsTexts } from './settings.texts.ts'
import styles from './settings.module.css'
import { readWhole } from './typed.ts'

type Reputation = Reply<'GET /settings/reputation'>
interface Typed {
  readonly enabled: boolean
  readonly api_key: SecretDraft
  readonly rate_limit: string
}
const typedOf = (is: Reputation): Typed => ({ enabled: is.enabled, api_key: '', rate_limit: String(is.rate_limit) })
const readLimit = (typed: string) => readWhole(typed, 0, 1_000_000)

export const ReputationSettings = () => (
  <SettingsSection title={textsOf(settingsTexts).reputation} query={useQuery(reputationQuery)}>
    {is => <ReputationForm is={is} />}
  </SettingsSection>
)

const useReputation = (is: Reputation) => {
  const t = textsOf(settingsTexts)
  return useForm({
    name: 'reputation',
    is: typedOf(is),
    fields: {
      enabled: t.reputationEnabled,
      api_key: { label: t.reputationKey, isSet: is.api_key_set },
      rate_limit: t.reputationLimit,
    },
    problems: ({ rate_limit }) => (readLimit(rate_limit) === null ? { rate_limit: t.reputationLimitWrong } : {}),
    fresh: async () => typedOf(await queries.fetchQuery({ ...reputationQuery, staleTime: 0 })),
    parts: [
      {
        send: async ({ enabled, api_key, rate_limit }, changed) => {
          const limit = readLimit(rate_limit)
          await api.call('PATCH /settings/reputation', {
            body: {
              ...(changed.has('enabled') ? { enabled } : {}),
              ...(changed.has('api_key') ? { api_key } : {}),
              ...(changed.has('rate_limit') && limit !== null ? { rate_limit: limit } : {}),
            },
          })
        },
      },
    ],
    reread: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  })
}

const ReputationForm = ({ is }: { is: Reputation }) => {
  const t = textsOf(settingsTexts)
  const form = useReputation(is)
  const { enabled, api_key } = form.values
  const willHaveKey = api_key === '' ? is.api_key_set : api_key !== null
  return (
    <Form form={form}>
      <Panel>
        <div className={parts.form}>
          <p className={parts.muted}>{t.reputationAbout}</p>
          <CheckField
            {...form.bind('enabled')}
            meaning={<Help of="reputation.enabled">{t.reputationEnabledHelp}</Help>}
          />
          {enabled && !willHaveKey && (
            <p className={parts.warn} role="status">
              {t.reputationNoKey}
            </p>
          )}
          <SecretField
            {...form.bind('api_key')}
            help={<Help of="reputation.api_key">{t.reputationKeyHelp}</Help>}
            isSet={is.api_key_set}
          />
          <TextField
            {...form.bind('rate_limit')}
            help={<Help of="reputation.rate_limit">{t.reputationLimitHelp}</Help>}
            most={9}
            kind="numeric"
          />
        </div>
      </Panel>
      <Used is={is} />
    </Form>
  )
}

/** How much of today's limit is used. */
const Used = ({ is }: { is: Reputation }) => {
  const t = textsOf(settingsTexts)
  return (
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
        {is.paused_until && (
          <>
            <dt>{t.reputationPaused}</dt>
            <dd>
              <DatedTime at={is.paused_until} />, {t.reputationBecause(is.paused_because ?? '')}
            </dd>
          </>
        )}
      </dl>
    </Panel>
  )
}
