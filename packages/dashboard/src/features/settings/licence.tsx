import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { Loading } from '../../kit/loading.tsx'
import { announce } from '../../kit/announce.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { exactTime } from '../../lib/time.ts'
import { licenceQuery } from '../identity/queries.ts'
import identity from '../identity/identity.module.css'
import { IssueLicence } from './issue-licence.tsx'
import { readLicenceKey } from './licence-key.ts'
import type { LicenceKey } from './licence-key.ts'
import { licenceTexts } from './licence.texts.ts'
import { SettingsPage } from './settings-page.tsx'
import { settingsTexts } from './settings.texts.ts'
import styles from './settings.module.css'

type Licence = Reply<'GET /settings/license'>
const features = ['reputation', 'custom_templates', 'siem', 'port_knocking', 'terminal'] as const
const tones = { none: 'neutral', active: 'ok', expired: 'warn', invalid: 'danger' } as const
const tierWord = (tier: string) => textsOf(licenceTexts).tiers[tier] ?? tier

export const LicenceSettings = () => {
  const t = textsOf(licenceTexts)
  const licence = useQuery(licenceQuery)
  return (
    <SettingsPage title={textsOf(settingsTexts).licence}>
      <Loading what={t.what} query={licence} lines={6} />
      {licence.data && (
        <div className={identity.columns}>
          <Facts is={licence.data} />
          <div className={parts.page}>
            {licence.data.state !== 'active' && licence.data.self_issue && (
              <Panel title={t.issueTitle}>
                <div className={parts.form}>
                  <IssueLicence />
                </div>
              </Panel>
            )}
            <Enter is={licence.data} />
          </div>
        </div>
      )}
    </SettingsPage>
  )
}

const Facts = ({ is }: { is: Licence }) => {
  const t = textsOf(licenceTexts)
  const left = is.server_limit - is.servers_used
  return (
    <Panel title={t.title}>
      <dl className={parts.details}>
        <dt>{t.tier}</dt>
        <dd>{tierWord(is.tier)}</dd>
        <dt>{t.state}</dt>
        <dd>
          <Mark tone={tones[is.state]}>{t.states[is.state]}</Mark> <p className={parts.help}>{t.stateHelp[is.state]}</p>
        </dd>
        <dt>{t.servers}</dt>
        <dd>
          {t.used(number(is.servers_used), number(is.server_limit))}
          <progress
            className={styles.meter}
            aria-label={t.servers}
            max={is.server_limit}
            value={Math.min(is.servers_used, is.server_limit)}
          />
          <p className={left <= 0 ? parts.warn : parts.help}>
            {left > 0 ? t.room(left, number(left)) : left === 0 ? t.full : t.over}
          </p>
        </dd>
        {is.state !== 'none' && is.state !== 'invalid' && (
          <>
            <dt>{is.state === 'expired' ? t.expired : t.expires}</dt>
            <dd>{is.expires_at ? exactTime(Date.parse(is.expires_at)) : t.forGood}</dd>
          </>
        )}
        {is.registered_to && (
          <>
            <dt>{t.owner}</dt>
            <dd>
              <Stranger text={is.registered_to} />
            </dd>
          </>
        )}
        <dt>{t.features}</dt>
        <dd>
          <ul>
            {features.map(name => (
              <li key={name}>
                {t.featureNames[name]}:{' '}
                <Mark tone={is.features[name] ? 'ok' : 'neutral'}>
                  {is.features[name] ? t.included : t.notIncluded}
                </Mark>
              </li>
            ))}
          </ul>
        </dd>
      </dl>
    </Panel>
  )
}

const Enter = ({ is }: { is: Licence }) => {
  const t = textsOf(licenceTexts)
  const [key, setKey] = useState('')
  const [tried, setTried] = useState(false)
  const read = key.trim() ? readLicenceKey(key) : null
  const activate = useMutation({
    mutationFn: () => api.call('POST /settings/license', { body: { license_key: key.trim() } }),
    onSuccess: async () => {
      announce(t.done)
      setKey('')
      setTried(false)
      await queries.invalidateQueries({ queryKey: licenceQuery.queryKey })
    },
  })
  const submit = () => {
    setTried(true)
    if (read && !activate.isPending) activate.mutate()
  }
  const refused = fieldProblem(activate.error, 'license_key')
  return (
    <Panel title={t.enter}>
      <PlainForm onSubmit={submit}>
        {!is.authority_set && <p className={parts.help}>{t.noAuthority}</p>}
        {activate.isSuccess && key === '' && <p className={parts.note}>{t.done}</p>}
        <TextField
          label={t.key}
          help={t.keyHelp}
          error={refused ?? (tried && !read ? t.keyWrong : undefined)}
          most={16 * 1024}
          rows={5}
          value={key}
          onValue={typed => {
            setKey(typed)
            activate.reset()
          }}
        />
        {read && <Says read={read} used={is.servers_used} />}
        {!refused && <Refusal error={activate.error} />}
        <div className={parts.row}>
          <Button type="submit" variant={is.state === 'active' ? 'filled' : 'default'} loading={activate.isPending}>
            {t.activate}
          </Button>
        </div>
      </PlainForm>
    </Panel>
  )
}

/** What the key would bring, before it is applied. */
const Says = ({ read, used }: { read: LicenceKey; used: number }) => {
  const t = textsOf(licenceTexts)
  return (
    <div role="group" aria-label={t.says}>
      <h3 className={identity.small}>{t.says}</h3>
      <dl className={parts.details}>
        <dt>{t.tier}</dt>
        <dd>
          <Stranger text={tierWord(read.tier)} most={40} />
        </dd>
        <dt>{t.servers}</dt>
        <dd>{number(read.serverLimit)}</dd>
        <dt>{t.expires}</dt>
        <dd>{read.expiresAt ? exactTime(Date.parse(read.expiresAt)) : t.forGood}</dd>
        <dt>{t.owner}</dt>
        <dd>
          <Stranger text={read.registeredTo} />
        </dd>
      </dl>
      {read.serverLimit < used && <p className={parts.warn}>{t.smaller(number(read.serverLimit), number(used))}</p>}
    </div>
  )
}
