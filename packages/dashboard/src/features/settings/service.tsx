import { useQuery } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { optionsQuery, queries } from '../../api/queries.ts'
import { ChoiceField } from '../../kit/form-choice.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import { useForm } from '../../kit/form.ts'
import { Form } from '../../kit/form.tsx'
import { useWords } from '../../kit/now.ts'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { clockTime } from '../../lib/time.ts'
import { settingsQuery } from '../identity/queries.ts'
import { Help } from './fields.tsx'
import { SettingsSection } from './settings-page.tsx'
import { settingsTexts } from './settings.texts.ts'
import { isTimeZone } from './typed.ts'

type Service = Reply<'GET /settings'>['service']

export const ServiceSettings = () => (
  <SettingsSection title={textsOf(settingsTexts).service} query={useQuery(settingsQuery)}>
    {is => <ServiceForm is={is.service} />}
  </SettingsSection>
)

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter(zone => zone !== 'UTC')]

const problemsOf = ({ site_name, site_url, timezone }: Service) => {
  const t = textsOf(settingsTexts)
  return {
    site_name: site_name.trim() === '' ? t.siteNameWrong : undefined,
    site_url: /^https?:\/\/[^/]/i.test(site_url.trim()) ? undefined : t.siteUrlWrong,
    timezone: isTimeZone(timezone.trim()) ? undefined : t.timezoneWrong,
  }
}

const ServiceForm = ({ is }: { is: Service }) => {
  const t = textsOf(settingsTexts)
  const form = useForm({
    name: 'general',
    is,
    fields: { site_name: t.siteName, site_url: t.siteUrl, timezone: t.timezone },
    problems: problemsOf,
    pathOf: name => `service.${name}`,
    fresh: async () => (await queries.fetchQuery({ ...settingsQuery, staleTime: 0 })).service,
    parts: [
      {
        send: async (values, changed) => {
          const service = Object.fromEntries([...changed].map(name => [name, values[name].trim()]))
          await api.call('PATCH /settings', { body: { service } })
        },
      },
    ],
    reread: () =>
      Promise.all([settingsQuery, optionsQuery].map(({ queryKey }) => queries.invalidateQueries({ queryKey }))),
  })
  const { site_url, timezone } = form.values
  return (
    <Form form={form}>
      <Panel>
        <div className={parts.form}>
          <TextField
            {...form.bind('site_name')}
            help={<Help of="service.site_name">{t.siteNameHelp}</Help>}
            most={100}
          />
          <TextField
            {...form.bind('site_url')}
            help={
              <Help of="service.site_url">
                {t.siteUrlHelp} {site_url.replace(/\/$/, '') !== ownAddress && t.siteUrlOther(ownAddress)}
              </Help>
            }
            most={2048}
            kind="url"
          />
          <ChoiceField
            {...form.bind('timezone')}
            help={
              <Help of="service.timezone">
                {t.timezoneHelp} {isTimeZone(timezone.trim()) && <TimeThere zone={timezone.trim()} />}
              </Help>
            }
            options={zones}
          />
        </div>
      </Panel>
    </Form>
  )
}

const TimeThere = ({ zone }: { zone: string }) =>
  useWords(now => textsOf(settingsTexts).timezoneNow(clockTime(now, zone)))
