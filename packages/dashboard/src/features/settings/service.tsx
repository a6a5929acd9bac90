import { useId } from 'react'
import type { FormEvent } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { optionsQuery, queries } from '../../api/queries.ts'
import { announce } from '../../kit/announce.tsx'
import { useWords } from '../../kit/now.ts'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, Trouble, fieldProblem } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { clockTime } from '../../lib/time.ts'
import { settingsQuery } from '../identity/queries.ts'
import identity from '../identity/identity.module.css'
import { useDraft } from '../../kit/draft.ts'
import { Help, TextSetting } from './fields.tsx'
import { SaveBar, SettingsPage } from './settings-page.tsx'
import { settingsTexts } from './settings.texts.ts'
import { isTimeZone } from './typed.ts'

type Service = Reply<'GET /settings'>['service']

export const ServiceSettings = () => {
  const t = textsOf(settingsTexts)
  const settings = useQuery(settingsQuery)
  return (
    <SettingsPage title={t.service}>
      <Trouble what={t.what} query={settings} />
      {settings.isPending && <Waiting lines={4} />}
      {settings.data && <Form is={settings.data.service} />}
    </SettingsPage>
  )
}

const names = { site_name: 'siteName', site_url: 'siteUrl', timezone: 'timezone' } as const
const fields = ['site_name', 'site_url', 'timezone'] as const

const Form = ({ is }: { is: Service }) => {
  const t = textsOf(settingsTexts)
  const zones = useId()
  const draft = useDraft(is, { name: 'general' })
  const { values, changed } = draft
  const errors = {
    site_name: values.site_name.trim() === '' ? t.siteNameWrong : undefined,
    site_url: /^https?:\/\/[^/]/i.test(values.site_url.trim()) ? undefined : t.siteUrlWrong,
    timezone: isTimeZone(values.timezone.trim()) ? undefined : t.timezoneWrong,
  }
  const save = useMutation({
    mutationFn: async () => {
      const fresh = await queries.fetchQuery({ ...settingsQuery, staleTime: 0 })
      if (!draft.isCurrent(fresh.service)) return
      const service = Object.fromEntries([...changed].map(name => [name, values[name].trim()]))
      await api.call('PATCH /settings', { body: { service } })
      await queries.invalidateQueries({ queryKey: settingsQuery.queryKey })
      await queries.invalidateQueries({ queryKey: optionsQuery.queryKey })
      draft.reset()
      announce(t.saved)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!Object.values(errors).some(Boolean) && changed.size > 0 && !save.isPending) save.mutate()
  }
  const problem = (name: keyof Service) => errors[name] ?? fieldProblem(save.error, `service.${name}`)
  return (
    <form className={`${parts.form ?? ''} ${identity.narrow ?? ''}`} onSubmit={submit} noValidate>
      <Panel>
        <div className={parts.form}>
          <TextSetting
            label={t.siteName}
            help={<Help of="service.site_name">{t.siteNameHelp}</Help>}
            error={problem('site_name')}
            most={100}
            value={values.site_name}
            onValue={site_name => draft.set({ site_name })}
          />
          <TextSetting
            label={t.siteUrl}
            help={
              <Help of="service.site_url">
                {t.siteUrlHelp} {values.site_url.replace(/\/$/, '') !== ownAddress && t.siteUrlOther(ownAddress)}
              </Help>
            }
            error={problem('site_url')}
            most={2048}
            kind="url"
            value={values.site_url}
            onValue={site_url => draft.set({ site_url })}
          />
          <TextSetting
            label={t.timezone}
            help={
              <Help of="service.timezone">
                {t.timezoneHelp} {errors.timezone === undefined && <TimeThere zone={values.timezone.trim()} />}
              </Help>
            }
            error={problem('timezone')}
            most={64}
            list={zones}
            value={values.timezone}
            onValue={timezone => draft.set({ timezone })}
          />
          <datalist id={zones}>
            {['UTC', ...Intl.supportedValuesOf('timeZone')].map(zone => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </div>
      </Panel>
      <Refusal error={save.error} />
      <SaveBar
        changes={fields
          .filter(name => changed.has(name))
          .map(name => t.change(t[names[name]], is[name], values[name].trim()))}
        overtaken={draft.overtaken.map(name => t[names[name]])}
        busy={save.isPending}
        onDiscard={() => {
          draft.reset()
          save.reset()
        }}
      />
    </form>
  )
}

const TimeThere = ({ zone }: { zone: string }) =>
  useWords(now => textsOf(settingsTexts).timezoneNow(clockTime(now, zone)))
