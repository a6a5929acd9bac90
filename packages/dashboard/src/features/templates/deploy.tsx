import { useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { api, statusOf } from '../../api/client.ts'
import { queries, summaryQuery } from '../../api/queries.ts'
import { roleMay } from '../../api/roles.ts'
import { useMe } from '../../api/session.ts'
import { Picks } from '../fleet/picks.tsx'
import { templateQuery } from '../fleet/queries.ts'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { Forbidden } from '../navigation/lone-pages.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { forServers } from './for-servers.ts'
import { GoneTemplate } from './gone.tsx'
import { SettingsFields } from './settings-fields.tsx'
import { readSettings, settingWords, untyped } from './settings-words.ts'
import { templatesTexts } from './templates.texts.ts'
import styles from './templates.module.css'

const names = ['maxretry', 'findtime', 'bantime', 'logpath'] as const

/** Three steps: which servers, with which settings, and what will happen; then the page of the batch. */
export const DeployTemplate = () => {
  const t = textsOf(templatesTexts)
  const d = t.deployPage
  const me = useMe()
  const { templateId } = useParams({ from: '/inside/templates/$templateId/deploy' })
  const navigate = useNavigate()
  const query = useQuery(templateQuery(templateId))
  const template = query.data
  const summary = useQuery(summaryQuery).data?.servers
  const [step, setStep] = useState<'servers' | 'settings' | 'review'>('servers')
  const [servers, setServers] = useState(forServers.take)
  const [typed, setTyped] = useState(untyped)
  const [tried, setTried] = useState(false)
  const { settings, wrong } = readSettings(typed)
  const deploy = useMutation({
    mutationFn: () =>
      api.call('POST /templates/{templateId}/deploy', {
        params: { templateId },
        body: { server_ids: [...servers], ...(Object.keys(settings).length > 0 ? { settings } : {}) },
      }),
    onSuccess: ({ batch_id }) => {
      void queries.invalidateQueries({ queryKey: ['commands'] })
      void navigate({ to: '/batches/$batchId', params: { batchId: batch_id }, search: {} })
    },
  })
  if (me && !roleMay(me.role, 'write')) return <Forbidden needed="Operator" />
  if (statusOf(query.error) === 404 || statusOf(query.error) === 400) return <GoneTemplate />
  const title = template ? d.title(nameOf(template.display_name)) : t.title
  const chosen = summary?.filter(({ id }) => servers.has(id)) ?? []
  const away = chosen.filter(({ status }) => status !== 'online').length
  const go = (event: FormEvent) => {
    event.preventDefault()
    if (step === 'servers') {
      setTried(servers.size === 0)
      if (servers.size > 0) setStep('settings')
    } else if (step === 'settings') {
      setTried(wrong.size > 0)
      if (wrong.size === 0) setStep('review')
    } else if (!deploy.isPending) deploy.mutate()
  }
  return (
    <Page
      title={title}
      heading={<bdi>{title}</bdi>}
      above={
        <Link to="/templates" search={{}}>
          {t.title}
        </Link>
      }
    >
      <Trouble what={t.whatOne} query={query} />
      {query.isPending && <Waiting />}
      {template && (
        <form className={styles.wizard} onSubmit={go} noValidate>
          <ol className={styles.steps}>
            {(['servers', 'settings', 'review'] as const).map(each => (
              <li key={each} aria-current={each === step ? 'step' : undefined}>
                {d.steps[each]}
              </li>
            ))}
          </ol>
          {step === 'servers' && (
            <>
              {summary?.length === 0 && <p className={parts.warn}>{d.noneYet}</p>}
              <Picks chosen={servers} onChosen={setServers} error={tried ? d.noServers : undefined} />
              {template.required_files.length > 0 && (
                <p className={parts.help}>{d.needs(template.required_files.join(', '))}</p>
              )}
            </>
          )}
          {step === 'settings' && (
            <>
              <p className={parts.muted}>{d.settingsHelp}</p>
              <div className={styles.pair}>
                <SettingsFields
                  typed={typed}
                  onTyped={setTyped}
                  wrong={tried ? wrong : new Set()}
                  help={{
                    maxretry: d.of(settingWords('maxretry', template.settings.maxretry) ?? t.asJail),
                    findtime: d.of(settingWords('findtime', template.settings.findtime) ?? t.asJail),
                    bantime: d.of(settingWords('bantime', template.settings.bantime) ?? t.asJail),
                    logpath: d.of(settingWords('logpath', template.settings.logpath) ?? t.asJail),
                  }}
                />
              </div>
            </>
          )}
          {step === 'review' && (
            <>
              <dl className={parts.details}>
                <dt>{d.what}</dt>
                <dd>
                  <bdi>{nameOf(template.display_name)}</bdi>
                </dd>
                <dt>{d.where}</dt>
                <dd>
                  {d.chosen(chosen.length)}:{' '}
                  {chosen
                    .slice(0, 12)
                    .map(({ hostname }) => nameOf(hostname))
                    .join(', ')}
                  {chosen.length > 12 && ' …'}
                </dd>
                <dt>{d.own}</dt>
                <dd>
                  {Object.keys(settings).length === 0
                    ? d.none
                    : names
                        .filter(name => settings[name] !== undefined)
                        .map(name => `${t.fields[name]}: ${settingWords(name, settings[name] ?? null) ?? ''}`)
                        .join(' · ')}
                </dd>
              </dl>
              {away > 0 && <p className={parts.warn}>{d.away(away)}</p>}
              <p className={parts.muted}>{d.safe}</p>
              <Refusal error={deploy.error} />
            </>
          )}
          <div className={parts.row}>
            <Button type="submit" loading={deploy.isPending}>
              {step === 'servers' ? d.next : step === 'settings' ? d.review : d.submit(servers.size)}
            </Button>
            {step !== 'servers' && (
              <Button variant="default" onClick={() => setStep(step === 'review' ? 'settings' : 'servers')}>
                {d.back}
              </Button>
            )}
          </div>
        </form>
      )}
    </Page>
  )
}
