import { lazy, useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { api, statusOf } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'
import { useMay } from '../../api/session.ts'
import fleet from '../fleet/fleet.module.css'
import { templateQuery, templateStatusQuery } from '../fleet/queries.ts'
import type { Template } from '../fleet/queries.ts'
import { questionOf, toldOf } from '../fleet/ssh-asked.ts'
import type { SshQuestion } from '../fleet/ssh-asked.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Loading } from '../../kit/loading.tsx'
import { ButtonLink } from '../../kit/button-link.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { Confirm } from '../identity/dialogs.ts'
import { previewTexts } from './preview.texts.ts'
import { Code } from './code.tsx'
import { GoneTemplate } from './gone.tsx'
import { settingWords } from './settings-words.ts'
import { TemplateFrame } from './template-frame.tsx'
import { templatesTexts } from './templates.texts.ts'

const PreviewDialog = lazy(() => import('./preview-dialog.tsx'))
const SshDialog = lazy(() => import('../commands/ssh-question.tsx'))

/** One template: what it watches, what it needs, and where it is. */
export const TemplatePage = () => {
  const t = textsOf(templatesTexts)
  const { templateId } = useParams({ from: '/inside/templates/$templateId' })
  const query = useQuery(templateQuery(templateId))
  const template = query.data
  const [deleting, setDeleting] = useState(false)
  if (statusOf(query.error) === 404 || statusOf(query.error) === 400) return <GoneTemplate />
  const title = template ? nameOf(template.display_name) : t.title
  return (
    <TemplateFrame
      title={title}
      actions={template && <Actions template={template} onDelete={() => setDeleting(true)} />}
    >
      <Loading what={t.whatOne} query={query} />
      {template && (
        <>
          <p>
            <Stranger text={template.description} most={1000} />
          </p>
          <div className={fleet.columns}>
            <Facts template={template} />
            <Status template={template} />
          </div>
          <Config template={template} />
          {deleting && <DeleteTemplate template={template} onClose={() => setDeleting(false)} />}
        </>
      )}
    </TemplateFrame>
  )
}

const Actions = ({ template, onDelete }: { template: Template; onDelete: () => void }) => {
  const t = textsOf(templatesTexts)
  const { name, type, display_name: displayName } = template
  const [isPreviewing, setPreviewing] = useState(false)
  const { may } = useMay('write')
  const { may: mayWrite } = useMay('admin')
  const isOwn = mayWrite && type === 'custom'
  return (
    <>
      {may && (
        <ButtonLink to="/templates/$templateId/deploy" params={{ templateId: name }}>
          {t.deploy}
        </ButtonLink>
      )}
      {may && (
        <Button variant="default" onClick={() => setPreviewing(true)}>
          {textsOf(previewTexts).ask}
        </Button>
      )}
      <Dialogs>
        {isPreviewing && (
          <PreviewDialog of={{ template: name, title: nameOf(displayName) }} onClose={() => setPreviewing(false)} />
        )}
      </Dialogs>
      {isOwn && (
        <ButtonLink to="/templates/$templateId/edit" params={{ templateId: name }} variant="default">
          {t.edit}
        </ButtonLink>
      )}
      {mayWrite && (
        <ButtonLink to="/templates/new" search={{ from: name }} variant="default">
          {t.duplicate}
        </ButtonLink>
      )}
      {isOwn && (
        <Button variant="default" onClick={onDelete}>
          {t.delete}
        </Button>
      )}
    </>
  )
}

const Config = ({ template: { jail_config: jail, filter_config: filter } }: { template: Template }) => {
  const t = textsOf(templatesTexts)
  return (
    <Panel title={t.config}>
      <div className={fleet.stack}>
        <div className={parts.field}>
          <span className={parts.muted}>{t.fields.jail}</span>
          <Code isIni ids={reading(t.fields.jail)} value={jail} />
        </div>
        {filter === '' ? (
          <p className={parts.muted}>{t.noFilter}</p>
        ) : (
          <div className={parts.field}>
            <span className={parts.muted}>{t.fields.filter}</span>
            <Code isIni ids={reading(t.fields.filter)} value={filter} />
          </div>
        )}
      </div>
    </Panel>
  )
}

const DeleteTemplate = ({ template, onClose }: { template: Template; onClose: () => void }) => {
  const t = textsOf(templatesTexts)
  const navigate = useNavigate()
  const remove = async () => {
    await api.call('DELETE /templates/{templateId}', { params: { templateId: template.name } })
    await navigate({ to: '/templates', search: {} })
    void queries.invalidateQueries({ queryKey: ['templates'] })
  }
  return (
    <Dialogs>
      <Confirm
        title={t.deleteTitle}
        text={t.deleteText(nameOf(template.display_name))}
        verb={t.deleteNow}
        name={template.name}
        nameLabel={t.typeName(template.name)}
        onClose={onClose}
        act={remove}
      />
    </Dialogs>
  )
}

/** For a text that is only read, which no label belongs to. */
const reading = (label: string) => ({
  id: `read-${label}`,
  'aria-label': label,
  'aria-describedby': undefined,
  'aria-invalid': undefined,
})

const Facts = ({ template }: { template: Template }) => {
  const t = textsOf(templatesTexts)
  return (
    <Panel title={t.settings}>
      <dl className={parts.details}>
        <dt>{t.fields.name}</dt>
        <dd className={parts.mono}>{template.name}</dd>
        <dt>{t.category}</dt>
        <dd>
          {t.categories[template.category]} · {t.types[template.type]}
        </dd>
        {(['maxretry', 'findtime', 'bantime', 'logpath'] as const).map(name => (
          <div key={name} style={{ display: 'contents' }}>
            <dt>{t.fields[name]}</dt>
            <dd>{settingWords(name, template.settings[name]) ?? <span className={parts.muted}>{t.asJail}</span>}</dd>
          </div>
        ))}
        <dt>{t.fields.files}</dt>
        <dd>{template.required_files.length === 0 ? t.noFiles : template.required_files.join(', ')}</dd>
        <dt>{t.fields.systems}</dt>
        <dd>{template.compatible_os.length === 0 ? t.allSystems : template.compatible_os.join(', ')}</dd>
      </dl>
    </Panel>
  )
}

/** Where it is; chosen servers can be rid of it at once. */
const Status = ({ template }: { template: Template }) => {
  const t = textsOf(templatesTexts)
  const { may } = useMay('write')
  const navigate = useNavigate()
  const query = useQuery({ ...templateStatusQuery(template.name), refetchInterval: every(30_000) })
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [removing, setRemoving] = useState<'plainly' | SshQuestion | null>(null)
  const rows = [...(query.data?.servers ?? [])].sort((a, b) => Number(b.deployed) - Number(a.deployed))
  const deployed = rows.filter(row => row.deployed)
  const own = rows.filter(row => row.own).length
  const picked = deployed.filter(({ id }) => chosen.has(id))
  const ask = useMutation({
    mutationFn: () => toldOf(template.name),
    onSuccess: told => setRemoving(questionOf(template.name, true, picked, told) ?? 'plainly'),
  })
  const order = async () => {
    const { batch_id } = await api.call('POST /commands/batch', {
      body: {
        server_ids: picked.map(({ id }) => id),
        type: 'remove-template',
        params: { template_name: template.name },
      },
    })
    void queries.invalidateQueries({ queryKey: ['commands'] })
    await navigate({ to: '/batches/$batchId', params: { batchId: batch_id }, search: {} })
  }
  const remove = useMutation({ mutationFn: order })
  return (
    <Panel title={t.onServers}>
      <Loading what={t.whatStatus} query={query} lines={3} />
      {query.data && (
        <p className={parts.muted}>
          {t.deployedOn(deployed.length, rows.length)} {own > 0 && t.ownOn(own)}
        </p>
      )}
      <ul className={fleet.lines} aria-label={t.onServers}>
        {rows.slice(0, 100).map(row => (
          <li key={row.id}>
            <span className={fleet.tick}>
              {may && row.deployed && (
                <input
                  type="checkbox"
                  aria-label={t.choose(nameOf(row.hostname))}
                  checked={chosen.has(row.id)}
                  onChange={event => {
                    const next = new Set(chosen)
                    if (event.currentTarget.checked) next.add(row.id)
                    else next.delete(row.id)
                    setChosen(next)
                  }}
                />
              )}
              <Link to="/servers/$serverId" params={{ serverId: row.id }} className={parts.link}>
                <Stranger text={row.hostname} most={60} />
              </Link>
            </span>
            {row.deployed && (
              <span className={parts.muted}>
                {t.columns.bans}: {number(row.current_bans)}
              </span>
            )}
            {row.deployed ? (
              <State is={row.enabled ? 'deployed' : 'disabled'} {...(row.enabled ? {} : { word: t.deployedOff })} />
            ) : (
              <span className={parts.muted}>{row.own ? t.runsOwn : t.notDeployed}</span>
            )}
          </li>
        ))}
      </ul>
      {may && picked.length > 0 && (
        <Button variant="default" mt={8} loading={ask.isPending} onClick={() => ask.mutate()}>
          {t.removeChosen(picked.length)}
        </Button>
      )}
      <Dialogs>
        {removing === 'plainly' ? (
          <Confirm
            title={t.removeTitle}
            text={t.removeText(nameOf(template.display_name), picked.length)}
            verb={t.removeChosen(picked.length)}
            onClose={() => setRemoving(null)}
            act={order}
          />
        ) : (
          removing && (
            <SshDialog
              question={removing}
              busy={remove.isPending}
              error={remove.error}
              onYes={() => remove.mutate()}
              onNo={() => {
                remove.reset()
                setRemoving(null)
              }}
            />
          )
        )}
      </Dialogs>
    </Panel>
  )
}
