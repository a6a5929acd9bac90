import { lazy, useMemo, useState } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { queryTerm } from '@stockade/contract/query/index.ts'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { jailsQuery, queries, serverQuery } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'
import { useMay } from '../../api/session.ts'
import { guardsSsh } from '@stockade/contract/guards-ssh.ts'
import { tellSwitched } from '../fleet/undo.ts'
import { CommandProgress, isOver, useCommand } from '../fleet/command-progress.tsx'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Loading } from '../../kit/loading.tsx'
import parts from '../../kit/parts.module.css'
import { PlainTable, headsOf } from '../../kit/plain-table.tsx'
import { SmallButton } from '../../kit/small-button.tsx'
import { State } from '../../kit/state.tsx'
import { Lines, Stranger } from '../../kit/stranger.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { useNarrow } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { clip } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { duration } from '../../lib/time.ts'
import { BanValue, FixedSearch } from '../bans/narrowing.tsx'
import { previewTexts } from '../templates/preview.texts.ts'
import styles from './server.module.css'
import { serverTexts } from './server.texts.ts'

const BanDialog = lazy(() => import('../bans/ban-dialog.tsx'))
const PreviewDialog = lazy(() => import('../templates/preview-dialog.tsx'))
const SshDialog = lazy(() => import('../commands/ssh-question.tsx'))

type Jail = Reply<'GET /servers/{serverId}/jails'>['jails'][number]
type Act = 'jail-status' | 'jail-reload' | 'jail-enable' | 'jail-disable'

/** What it guards, and what can be done about each jail. */
export const JailsTab = () => {
  const t = textsOf(serverTexts)
  const { serverId } = useParams({ from: '/inside/servers/$serverId' })
  const jails = useQuery({ ...jailsQuery(serverId), refetchInterval: every(30_000) })
  const narrow = useNarrow()
  const rows = jails.data?.jails
  const own = useMemo(() => ({ server: serverId }), [serverId])
  return (
    <FixedSearch value={own}>
      <Loading what={t.whatJails} query={jails} lines={3} />
      {rows?.length === 0 && (
        <div className={parts.empty}>
          <p>{t.noJails}</p>
          <Link to="/templates" search={{}}>
            {t.deploy}
          </Link>
        </div>
      )}
      {rows &&
        rows.length > 0 &&
        (narrow ? <Cards rows={rows} serverId={serverId} /> : <Table rows={rows} serverId={serverId} />)}
    </FixedSearch>
  )
}

interface Rows {
  readonly rows: readonly Jail[]
  readonly serverId: string
}

const ruleOf = (jail: Jail) => {
  const { none } = textsOf(commonTexts)
  return jail.maxretry === null || jail.findtime === null
    ? none
    : textsOf(serverTexts).rule(jail.maxretry, duration(jail.findtime))
}

/** Leads to its bans here; its menu also to those of the others, and to all servers that have such a jail. */
const Name = ({ jail, serverId }: { jail: Jail; serverId: string }) => {
  const navigate = useNavigate()
  return (
    <BanValue
      field="jail"
      value={jail.name}
      shown={clip(jail.name, 64).shown}
      more={[
        {
          text: textsOf(serverTexts).withJail,
          act: () => void navigate({ to: '/servers', search: { q: queryTerm('jail', jail.name) } }),
        },
      ]}
      link={
        <Link to="/bans" search={{ server: serverId, jail: jail.name }} className={parts.link}>
          <Stranger text={jail.name} most={64} />
        </Link>
      }
    />
  )
}
const Origin = ({ jail }: { jail: Jail }) =>
  jail.template === null ? null : (
    <Link to="/templates/$templateId" params={{ templateId: jail.template }} className={parts.help}>
      {textsOf(serverTexts).template}
    </Link>
  )

/** What it bans that is no address, such as user names: beside the bans, which are of addresses. */
const OtherIds = ({ jail: { other_ids: other } }: { jail: Jail }) =>
  other && (
    <p className={parts.help}>
      <Stranger text={textsOf(serverTexts).otherIds(other.count, other.ids.join(', '))} most={400} />
    </p>
  )

const Cards = ({ rows, serverId }: Rows) => {
  const t = textsOf(serverTexts)
  return (
    <ul className={parts.cards} aria-label={t.jailsCaption}>
      {rows.map(jail => (
        <li key={jail.name} className={parts.card}>
          <div className={parts.cardTop}>
            <strong>
              <Name jail={jail} serverId={serverId} />
            </strong>
            <State is={jail.enabled ? 'enabled' : 'disabled'} />
          </div>
          <div className={parts.facts}>
            <span>
              {t.columns.current}: {number(jail.current_bans)}
            </span>
            <span>
              {t.columns.total}: {number(jail.total_bans)}
            </span>
            {jail.maxretry !== null && <span>{ruleOf(jail)}</span>}
            {jail.bantime !== null && (
              <span>
                {t.columns.bantime}: {duration(jail.bantime)}
              </span>
            )}
            <Origin jail={jail} />
          </div>
          <OtherIds jail={jail} />
          <Acts jail={jail} serverId={serverId} />
        </li>
      ))}
    </ul>
  )
}

const Table = ({ rows, serverId }: Rows) => {
  const t = textsOf(serverTexts)
  const { may } = useMay('write')
  const { none } = textsOf(commonTexts)
  return (
    <PlainTable
      caption={t.jailsCaption}
      heads={[
        ...headsOf(t.columns, { current: parts.end, total: parts.end }),
        ...(may ? [{ key: 'actions', text: t.actions, className: parts.last }] : []),
      ]}
      frame={parts.frame}
    >
      {rows.map(jail => (
        <tr key={jail.name}>
          <td>
            <Name jail={jail} serverId={serverId} /> <Origin jail={jail} />
            <OtherIds jail={jail} />
          </td>
          <td>
            <State is={jail.enabled ? 'enabled' : 'disabled'} />
          </td>
          <td className={parts.end}>{number(jail.current_bans)}</td>
          <td className={parts.end}>{number(jail.total_bans)}</td>
          <td className={parts.cut}>
            <Stranger text={jail.filter ?? none} most={80} />
          </td>
          <td>{ruleOf(jail)}</td>
          <td>{jail.bantime === null ? none : duration(jail.bantime)}</td>
          <td className={parts.cut} title={jail.logpath ?? undefined}>
            <Stranger text={jail.logpath ?? none} most={200} />
          </td>
          {may && (
            <td className={parts.last}>
              <Acts jail={jail} serverId={serverId} />
            </td>
          )}
        </tr>
      ))}
    </PlainTable>
  )
}

const Acts = ({ jail, serverId }: { jail: Jail; serverId: string }) => {
  const t = textsOf(serverTexts).acts
  const p = textsOf(previewTexts)
  const { may } = useMay('write')
  const hostname = useQuery({ ...serverQuery(serverId), enabled: false }).data?.hostname
  const [dialog, setDialog] = useState<'ban' | 'ssh' | 'preview' | null>(null)
  const [asked, setAsked] = useState<{ readonly act: Act; readonly commandId: string } | null>(null)
  const run = useMutation({
    mutationFn: async (act: Act) => {
      const { id } = await api.call('POST /servers/{serverId}/commands', {
        params: { serverId },
        body: { type: act, params: { jail: jail.name } },
      })
      setAsked({ act, commandId: id })
      if (act === 'jail-enable' || act === 'jail-disable')
        tellSwitched(jail.name, hostname ?? '', act === 'jail-enable', id)
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['commands'] }),
  })
  if (!may) return null
  const button = (act: Act, words: string) => (
    <SmallButton
      aria-label={t.of(words, jail.name)}
      loading={run.isPending && run.variables === act}
      onClick={() => {
        if (act === 'jail-disable' && guardsSsh(jail.name, jail.filter)) setDialog('ssh')
        else run.mutate(act)
      }}
    >
      {words}
    </SmallButton>
  )
  return (
    <>
      <span className={`${parts.acts ?? ''} ${parts.wrapping ?? ''} ${styles.quiet ?? ''}`}>
        {button('jail-status', t.status)}
        {jail.enabled && button('jail-reload', t.reload)}
        {jail.enabled ? button('jail-disable', t.disable) : button('jail-enable', t.enable)}
        {jail.enabled && (
          <SmallButton aria-label={t.of(t.ban, jail.name)} onClick={() => setDialog('ban')}>
            {t.ban}
          </SmallButton>
        )}
        {jail.enabled && (
          <SmallButton aria-label={t.of(p.ask, jail.name)} onClick={() => setDialog('preview')}>
            {p.ask}
          </SmallButton>
        )}
      </span>
      {asked && <Answer key={asked.commandId} act={asked.act} commandId={asked.commandId} jail={jail.name} />}
      <Refusal error={run.error} />
      <Dialogs>
        {dialog === 'ban' && <BanDialog server={serverId} jail={jail.name} onClose={() => setDialog(null)} />}
        {dialog === 'preview' && <PreviewDialog of={{ jail: jail.name, serverId }} onClose={() => setDialog(null)} />}
        {dialog === 'ssh' && (
          <SshDialog
            question={{ jail: jail.name, removes: false, guarded: [hostname ?? ''], total: 1, unknown: null }}
            onYes={() => {
              setDialog(null)
              run.mutate('jail-disable')
            }}
            onNo={() => setDialog(null)}
          />
        )}
      </Dialogs>
    </>
  )
}

/** How far it is; the answer to a question of status is shown whole. */
const Answer = ({ act, commandId, jail }: { act: Act; commandId: string; jail: string }) => {
  const t = textsOf(serverTexts).acts
  const command = useCommand(commandId).data
  return (
    <div style={{ textAlign: 'start', whiteSpace: 'normal', paddingBlock: 4 }}>
      <CommandProgress commandId={commandId} />
      {act === 'jail-status' && command && isOver(command) && command.result && (
        <Lines text={command.result.output} label={t.output(jail)} />
      )}
    </div>
  )
}
