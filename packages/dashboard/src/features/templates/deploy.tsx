import { Fragment, useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, statusOf } from '../../api/client.ts'
import { queries, summaryQuery } from '../../api/queries.ts'
import { roleMay } from '../../api/roles.ts'
import { useMe } from '../../api/session.ts'
import { Picks } from '../fleet/picks.tsx'
import { templateQuery } from '../fleet/queries.ts'
import type { Template } from '../fleet/queries.ts'
import { BatchReceipt } from '../fleet/receipts.tsx'
import { tellAsked } from '../fleet/undo.ts'
import { Loading } from '../../kit/loading.tsx'
import { ButtonLink } from '../../kit/button-link.tsx'
import { useForgotten, useKept } from '../../kit/draft.ts'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { Forbidden } from '../navigation/lone-pages.tsx'
import { writeDraft } from '../../lib/drafts.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { nameOf } from '../../lib/clip.ts'
import { forServers } from './for-servers.ts'
import { GoneTemplate } from './gone.tsx'
import { SettingsFields } from './settings-fields.tsx'
import { readSettings, settingWords, untyped } from './settings-words.ts'
import type { Typed } from './settings-words.ts'
import { TemplateFrame } from './template-frame.tsx'
import { templatesTexts } from './templates.texts.ts'
import styles from './templates.module.css'

const names = ['maxretry', 'findtime', 'bantime', 'logpath'] as const

const stepNames = ['servers', 'settings', 'review'] as const
type Step = (typeof stepNames)[number]

interface Draft extends Typed {
  readonly servers: ReadonlySet<string>
}
const first: Draft = { servers: new Set(), ...untyped }

/** What is typed in the three steps: kept like a dialog. Servers that were just chosen in their list are the choice. */
const useDeployment = (templateId: string) => {
  const name = `deploy ${templateId}`
  const userId = useMe()?.id
  const [given] = useState(() => {
    const servers = forServers.take()
    if (servers.size > 0 && userId !== undefined)
      writeDraft(userId, name, first, { typed: { servers }, was: {} }, [], Date.now())
    return { ...first, servers }
  })
  return { name, ...useKept<Draft>(name, given) }
}

/** The three steps, and what submitting one does. */
const useWizard = (templateId: string, template: Template | undefined) => {
  const d = textsOf(templatesTexts).deployPage
  const [step, setStep] = useState<Step>('servers')
  const { name, typed, set, reset } = useDeployment(templateId)
  const { servers } = typed
  const [tried, setTried] = useState(false)
  const { settings, wrong } = readSettings(typed)
  const deploy = useMutation({
    mutationFn: (templateId: string) =>
      api.call('POST /templates/{templateId}/deploy', {
        params: { templateId },
        body: { server_ids: [...servers], ...(Object.keys(settings).length > 0 ? { settings } : {}) },
      }),
    onSuccess: ({ batch_id }) => {
      void queries.invalidateQueries({ queryKey: ['commands'] })
      tellAsked(d.asked(nameOf(template?.display_name ?? ''), servers.size), [], batch_id)
    },
  })
  useForgotten(name, deploy.isSuccess)
  /** On from the servers, once one is chosen. */
  const go = (to: Step) => {
    setTried(servers.size === 0)
    if (servers.size > 0) setStep(to)
  }
  const submit = () => {
    // Most deployments change no setting: the review is the next step, and says so.
    if (step === 'servers') go(wrong.size > 0 ? 'settings' : 'review')
    else if (step === 'settings') {
      setTried(wrong.size > 0)
      if (wrong.size === 0) setStep('review')
    } else if (template && !deploy.isPending) deploy.mutate(template.name)
  }
  return { step, setStep, go, servers, typed, set, reset, settings, wrong, tried, deploy, submit }
}
type Wizard = ReturnType<typeof useWizard>

/** Three steps: which servers, with which settings, and what will happen; then the receipt of what was asked. */
export const DeployTemplate = () => {
  const t = textsOf(templatesTexts)
  const me = useMe()
  const { templateId } = useParams({ from: '/inside/templates/$templateId/deploy' })
  const query = useQuery(templateQuery(templateId))
  const template = query.data
  const wizard = useWizard(templateId, template)
  if (me && !roleMay(me.role, 'write')) return <Forbidden needed="Operator" />
  if (statusOf(query.error) === 404 || statusOf(query.error) === 400) return <GoneTemplate />
  const title = template ? t.deployPage.title(nameOf(template.display_name)) : t.title
  return (
    <TemplateFrame title={title}>
      <Loading what={t.whatOne} query={query} />
      {template &&
        (wizard.deploy.data ? (
          <Asked template={template} batchId={wizard.deploy.data.batch_id} />
        ) : (
          <Steps template={template} wizard={wizard} />
        ))}
    </TemplateFrame>
  )
}

const Asked = ({ template, batchId }: { template: Template; batchId: string }) => (
  <div className={styles.wizard}>
    <BatchReceipt batchId={batchId} list />
    <div className={parts.row}>
      <ButtonLink variant="default" to="/templates/$templateId" params={{ templateId: template.name }}>
        {textsOf(templatesTexts).deployPage.toTemplate}
      </ButtonLink>
    </div>
  </div>
)

const Steps = ({ template, wizard }: { template: Template; wizard: Wizard }) => {
  const d = textsOf(templatesTexts).deployPage
  const { step, setStep, servers, deploy } = wizard
  const verbs: Readonly<Record<Step, string>> = {
    servers: d.review,
    settings: d.review,
    review: d.submit(servers.size),
  }
  return (
    <PlainForm className={styles.wizard} onSubmit={wizard.submit}>
      <ol className={styles.steps}>
        {stepNames.map(each => (
          <li key={each} aria-current={each === step ? 'step' : undefined}>
            {d.steps[each]}
          </li>
        ))}
      </ol>
      {step === 'servers' && <ServersStep template={template} wizard={wizard} />}
      {step === 'settings' && <SettingsStep template={template} wizard={wizard} />}
      {step === 'review' && <Review template={template} wizard={wizard} />}
      <div className={parts.row}>
        <Button type="submit" loading={deploy.isPending}>
          {verbs[step]}
        </Button>
        {step === 'servers' ? (
          <>
            <Button variant="default" onClick={() => wizard.go('settings')}>
              {d.change}
            </Button>
            <ButtonLink
              variant="default"
              to="/templates/$templateId"
              params={{ templateId: template.name }}
              onClick={wizard.reset}
            >
              {textsOf(commonTexts).cancel}
            </ButtonLink>
          </>
        ) : (
          <Button variant="default" onClick={() => setStep(step === 'review' ? 'settings' : 'servers')}>
            {d.back}
          </Button>
        )}
      </div>
    </PlainForm>
  )
}

const ServersStep = ({ template, wizard }: { template: Template; wizard: Wizard }) => {
  const d = textsOf(templatesTexts).deployPage
  const summary = useQuery(summaryQuery).data?.servers
  return (
    <>
      {summary?.length === 0 && <p className={parts.warn}>{d.noneYet}</p>}
      <Picks
        chosen={wizard.servers}
        onChosen={servers => wizard.set({ servers })}
        error={wizard.tried ? d.noServers : undefined}
      />
      {template.required_files.length > 0 && (
        <p className={parts.help}>{d.needs(template.required_files.join(', '))}</p>
      )}
    </>
  )
}

const SettingsStep = ({ template, wizard }: { template: Template; wizard: Wizard }) => {
  const t = textsOf(templatesTexts)
  const d = t.deployPage
  const helpOf = (name: (typeof names)[number]) => d.of(settingWords(name, template.settings[name]) ?? t.asJail)
  return (
    <>
      <p className={parts.muted}>{d.settingsHelp}</p>
      <div className={styles.pair}>
        <SettingsFields
          typed={wizard.typed}
          onTyped={wizard.set}
          wrong={wizard.tried ? wizard.wrong : new Set()}
          help={{
            maxretry: helpOf('maxretry'),
            findtime: helpOf('findtime'),
            bantime: helpOf('bantime'),
            logpath: helpOf('logpath'),
          }}
        />
      </div>
    </>
  )
}

const Review = ({ template, wizard }: { template: Template; wizard: Wizard }) => {
  const t = textsOf(templatesTexts)
  const d = t.deployPage
  const { servers, settings, deploy } = wizard
  const chosen = useQuery(summaryQuery).data?.servers.filter(({ id }) => servers.has(id)) ?? []
  const away = chosen.filter(({ status }) => status !== 'online').length
  const own = names.flatMap(name =>
    settings[name] === undefined ? [] : [`${t.fields[name]}: ${settingWords(name, settings[name]) ?? ''}`],
  )
  const facts: readonly (readonly [string, ReactNode])[] = [
    [d.what, <bdi key="what">{nameOf(template.display_name)}</bdi>],
    [
      d.where,
      `${d.chosen(chosen.length)}: ${chosen
        .slice(0, 12)
        .map(({ hostname }) => nameOf(hostname))
        .join(', ')}${chosen.length > 12 ? ' …' : ''}`,
    ],
    [d.own, own.length === 0 ? d.none : own.join(' · ')],
  ]
  return (
    <>
      <dl className={parts.details}>
        {facts.map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
      {away > 0 && <p className={parts.warn}>{d.away(away)}</p>}
      <p className={parts.muted}>{d.safe}</p>
      <Refusal error={deploy.error} />
    </>
  )
}
