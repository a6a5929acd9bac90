import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { isOver } from '../fleet/command-progress.tsx'
import fleet from '../fleet/fleet.module.css'
import { Picks } from '../fleet/picks.tsx'
import { commandsLimit, commandsQuery } from '../fleet/queries.ts'
import type { CommandRow } from '../fleet/queries.ts'
import { readSettings, untyped } from './settings-words.ts'
import type { Typed } from './settings-words.ts'
import { templatesTexts } from './templates.texts.ts'
import { CancelButton, CloseButton } from '../../kit/dialog-buttons.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { nameOf } from '../../lib/clip.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { readPreview } from './preview.ts'
import type { Preview } from './preview.ts'
import { previewTexts } from './preview.texts.ts'

/** A jail of one server, or a template for servers that are chosen here. */
export type Previewed =
  | { readonly jail: string; readonly serverId: string }
  | { readonly template: string; readonly title: string }

const days = ['1', '3', '7'] as const
type Days = (typeof days)[number]
/** Rows of one server; the command's own page has all. */
const mostRows = 50
/** Milliseconds. An agent looks through some 10,000 lines a second. */
const askEvery = 2000

/** Whom it would have banned in the last days, server by server. */
const PreviewDialog = ({ of, onClose }: { of: Previewed; onClose: () => void }) => {
  const t = textsOf(previewTexts)
  const [servers, setServers] = useState<ReadonlySet<string>>(new Set('jail' in of ? [of.serverId] : []))
  const [typed, setTyped] = useState<Typed>(untyped)
  const [chosenDays, setDays] = useState<Days>('1')
  const [tried, setTried] = useState(false)
  const { settings, wrong } = readSettings(typed)
  const run = useMutation({
    mutationFn: () => {
      const common = { server_ids: [...servers] }
      const body =
        'jail' in of
          ? {
              ...common,
              type: 'jail-preview' as const,
              params: { jail: of.jail, days: Number(chosenDays), ...settings },
            }
          : {
              ...{ ...common, type: 'template-preview' as const },
              params: { template_id: of.template, days: Number(chosenDays), settings },
            }
      return api.call('POST /commands/batch', { body })
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['commands'] }),
  })
  const submit = () => {
    const isGood = servers.size > 0 && wrong.size === 0
    setTried(!isGood)
    if (isGood && !run.isPending) run.mutate()
  }
  return (
    <Dialog wide title={t.title('jail' in of ? nameOf(of.jail) : of.title)} onClose={onClose}>
      {run.data ? (
        <div className={parts.form}>
          <Answers batchId={run.data.batch_id} total={run.data.commands.length} />
          <div className={parts.row}>
            <Button variant="default" onClick={() => run.reset()}>
              {t.again}
            </Button>
            <CloseButton onClick={onClose} />
          </div>
        </div>
      ) : (
        <PlainForm onSubmit={submit}>
          <p className={parts.help}>{t.help}</p>
          <Segmented
            label={t.days}
            value={chosenDays}
            options={days.map(value => ({ value, text: t.dayCount(Number(value)) }))}
            onChange={setDays}
          />
          <Thresholds typed={typed} onTyped={setTyped} wrong={tried ? wrong : new Set()} />
          {'template' in of && (
            <Picks
              chosen={servers}
              onChosen={setServers}
              error={tried && servers.size === 0 ? t.noServers : undefined}
            />
          )}
          <Refusal error={run.error} />
          <div className={parts.row}>
            <Button type="submit" loading={run.isPending}>
              {t.run(servers.size)}
            </Button>
            <CancelButton onClick={onClose} />
          </div>
        </PlainForm>
      )}
    </Dialog>
  )
}
export default PreviewDialog

const Thresholds = (props: { typed: Typed; onTyped: (typed: Typed) => void; wrong: ReadonlySet<keyof Typed> }) => {
  const t = textsOf(templatesTexts)
  const { typed, onTyped, wrong } = props
  return (['maxretry', 'findtime'] as const).map(name => (
    <TextField
      key={name}
      label={t.fields[name]}
      help={name === 'maxretry' ? t.editor.retryHelp : t.editor.timeHelp}
      error={wrong.has(name) ? (name === 'maxretry' ? t.editor.retryWrong : t.editor.timeWrong) : undefined}
      value={typed[name]}
      onValue={value => onTyped({ ...typed, [name]: value })}
      kind={name === 'maxretry' ? 'numeric' : undefined}
      dir="ltr"
      most={20}
    />
  ))
}

const Answers = ({ batchId, total }: { batchId: string; total: number }) => {
  const t = textsOf(previewTexts)
  const query = useQuery({
    ...commandsQuery({ batch_id: batchId, limit: commandsLimit }),
    refetchInterval: ({ state }) => (state.data?.commands.every(isOver) ? false : askEvery),
  })
  const commands = [...(query.data?.commands ?? [])].sort((a, b) => (a.server.hostname < b.server.hostname ? -1 : 1))
  return (
    <>
      <ul className={fleet.stack} aria-label={t.answers} aria-live="polite">
        {commands.map(command => (
          <li key={command.id}>
            <Answer command={command} />
          </li>
        ))}
      </ul>
      {total > commandsLimit && <p className={parts.help}>{t.moreServers(total - commandsLimit)}</p>}
      <Refusal error={query.error} />
    </>
  )
}

const Answer = ({ command }: { command: CommandRow }) => {
  const t = textsOf(previewTexts)
  const output = command.result?.output ?? ''
  const preview = command.status === 'completed' ? readPreview(output) : null
  const hostname = nameOf(command.server.hostname)
  return (
    <>
      <strong>
        <Link to="/commands/$commandId" params={{ commandId: command.id }} className={parts.link}>
          <bdi>{hostname}</bdi>
        </Link>
      </strong>
      {preview ? (
        <Outcome preview={preview} hostname={hostname} />
      ) : (
        <p className={parts.help}>
          {isOver(command) ? output === '' ? t.silent : <Stranger text={output} most={500} /> : t.reading}
        </p>
      )}
    </>
  )
}

const Outcome = ({ preview, hostname }: { preview: Preview; hostname: string }) => {
  const t = textsOf(previewTexts)
  const { banned, whitelisted, signedIn, lines, cut, addresses } = preview
  const rows = addresses.slice(0, mostRows)
  const sentences = [
    ...(whitelisted > 0 ? [t.spared(whitelisted)] : []),
    ...(signedIn > 0 ? [t.signedIn(signedIn)] : []),
    lines === 0 ? t.noLines : t.lines(lines),
    ...(cut === null ? [] : [t.cuts[cut]]),
  ]
  const rest = banned + whitelisted - rows.length
  return (
    <>
      <p>{t.banned(banned)}</p>
      <p className={parts.help}>{sentences.join(' ')}</p>
      {rows.length > 0 && (
        <ul className={fleet.lines} aria-label={t.addresses(hostname)}>
          {rows.map(row => (
            <li key={row.ip}>
              <span className={parts.mono} dir="ltr">
                <Stranger text={row.ip} most={64} />
              </span>
              <span className={parts.muted}>
                {t.attempts(row.failures)} · {t.first} <Time at={row.banned_at} />
              </span>
              {row.whitelisted && <Mark tone="ok">{t.whitelisted}</Mark>}
              {row.signed_in_at !== null && (
                <Mark tone="warn">
                  {t.later} <Time at={row.signed_in_at} />
                </Mark>
              )}
            </li>
          ))}
        </ul>
      )}
      {rest > 0 && <p className={parts.help}>{t.more(rest)}</p>}
    </>
  )
}
