import { useId, useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ApiError, api } from '../../api/client.ts'
import { jailsQuery, summaryQuery } from '../../api/queries.ts'
import { BatchReceipt } from '../fleet/receipts.tsx'
import { Picks } from '../fleet/picks.tsx'
import { tellBanned } from '../fleet/undo.ts'
import { CommandProgress } from '../fleet/command-progress.tsx'
import { Field } from '../../kit/field.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { readRange } from '../../lib/address.ts'
import { readDuration } from '../../lib/time.ts'
import { banDialogTexts } from './ban-dialog.texts.ts'
import { nameOf } from '../../lib/clip.ts'

/** Only what touches one's own, a server's or a loopback address can be forced; the API says so in its sentence. */
const canForce = (error: unknown) =>
  error instanceof ApiError && error.status === 409 && error.message.includes('"force": true')
const withoutHint = (error: unknown) => {
  if (!(error instanceof ApiError) || !canForce(error)) return error
  return new ApiError(409, { ...error.body, message: error.message.replace(/\s*Send "force": true.*$/, '') }, null)
}

interface Given {
  readonly onClose: () => void
  readonly server?: string | undefined
  readonly ip?: string | undefined
  readonly jail?: string | undefined
  /** Proposes all servers instead of asking for one. */
  readonly everywhere?: boolean
}
type Queued = { readonly count: number } & ({ readonly commandId: string } | { readonly batchId: string })
/** The jail that the agent keeps for bans from here, also in batches, which name none by themselves. */
const ownJail = 'stockade'
/** In place of a server's id. */
const every = 'every'
const several = 'several'

const BanDialog = (props: Given) => (
  <Dialog title={textsOf(banDialogTexts).title} onClose={props.onClose}>
    <Form {...props} />
  </Dialog>
)
export default BanDialog

const Form = (props: Given) => {
  const t = textsOf(banDialogTexts)
  const servers = useQuery(summaryQuery).data?.servers ?? []
  const only = servers.length === 1 ? servers[0]?.id : undefined
  const [ip, setIp] = useState(props.ip ?? '')
  const [chosen, setChosen] = useState(props.server ?? (props.everywhere ? every : ''))
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const [jail, setJail] = useState(props.jail ?? '')
  const [time, setTime] = useState('')
  const [reason, setReason] = useState('')
  const [tried, setTried] = useState(false)
  const jailsId = useId()
  const timesId = useId()
  const serverId = only ?? chosen
  const server = servers.find(({ id }) => id === serverId)
  const many = serverId === every || serverId === several
  const ids = serverId === every ? servers.map(({ id }) => id) : serverId === several ? [...picked] : [serverId]
  const away = servers.filter(({ id, status }) => ids.includes(id) && status !== 'online').length
  const jails = useQuery({ ...jailsQuery(serverId), enabled: server !== undefined }).data?.jails ?? []
  const seconds = time.trim() ? readDuration(time) : undefined

  const ban = useMutation({
    mutationFn: async (force: boolean): Promise<Queued> => {
      const asked = {
        ip: ip.trim(),
        ...(jail.trim() ? { jail: jail.trim() } : {}),
        ...(seconds !== undefined && seconds !== null ? { duration: seconds } : {}),
        ...(reason.trim() ? { reason: reason.trim() } : {}),
        ...(force ? { force: true } : {}),
      }
      if (!many) {
        const { command_id } = await api.call('POST /servers/{serverId}/bans', { params: { serverId }, body: asked })
        tellBanned(asked.ip, [server?.hostname ?? ''], [command_id])
        return { commandId: command_id, count: 1 }
      }
      const { batch_id, commands } = await api.call('POST /commands/batch', {
        body: { server_ids: ids, type: 'ban-ip', params: { jail: ownJail, ...asked } },
      })
      tellBanned(
        asked.ip,
        servers.filter(({ id }) => ids.includes(id)).map(({ hostname }) => hostname),
        commands.map(({ id }) => id),
        batch_id,
      )
      return { batchId: batch_id, count: commands.length }
    },
  })
  const errors = {
    ip: readRange(ip) ? undefined : t.wrongIp,
    server: ids.some(id => id !== '') ? undefined : t.noServer,
    time: seconds === null ? t.wrongDuration : undefined,
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (!errors.ip && !errors.server && !errors.time && !ban.isPending) ban.mutate(false)
  }
  if (ban.data)
    return (
      <div className={parts.form}>
        <p>
          <bdi>{t.queued(ip.trim(), server ? nameOf(server.hostname) : t.onMany(ban.data.count))}</bdi>
        </p>
        {'commandId' in ban.data ? (
          <CommandProgress commandId={ban.data.commandId} done={t.banned} />
        ) : (
          <BatchReceipt batchId={ban.data.batchId} list />
        )}
        <div className={parts.row}>
          <Button onClick={props.onClose}>{t.done}</Button>
          <Button variant="default" onClick={() => ban.reset()}>
            {t.another}
          </Button>
        </div>
      </div>
    )
  return (
    <form className={parts.form} onSubmit={submit} noValidate>
      <Field label={t.ip} help={t.ipHelp} error={(tried ? errors.ip : undefined) ?? fieldProblem(ban.error, 'ip')}>
        {ids => (
          <input
            {...ids}
            className={parts.input}
            autoComplete="off"
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            dir="ltr"
            data-autofocus
            value={ip}
            onChange={event => setIp(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field
        label={t.server}
        error={tried && serverId !== several ? errors.server : undefined}
        help={
          server && server.status !== 'online'
            ? t.waits(nameOf(server.hostname))
            : serverId === every && away > 0
              ? t.waitMany(away)
              : undefined
        }
      >
        {ids => (
          <select
            {...ids}
            className={parts.input}
            value={serverId}
            onChange={event => setChosen(event.currentTarget.value)}
          >
            {!only && <option value="">{t.chooseServer}</option>}
            {servers.length > 1 && <option value={every}>{t.every(servers.length)}</option>}
            {servers.length > 1 && <option value={several}>{t.several}</option>}
            {servers.map(({ id, hostname }) => (
              <option key={id} value={id}>
                {nameOf(hostname)}
              </option>
            ))}
          </select>
        )}
      </Field>
      {serverId === several && <Picks chosen={picked} onChosen={setPicked} error={tried ? errors.server : undefined} />}
      <Field label={t.jail} help={t.jailHelp} error={fieldProblem(ban.error, 'jail')}>
        {ids => (
          <>
            <input
              {...ids}
              className={parts.input}
              list={jailsId}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              dir="ltr"
              value={jail}
              onChange={event => setJail(event.currentTarget.value)}
            />
            <datalist id={jailsId}>
              {jails.map(({ name }) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      <Field
        label={t.duration}
        help={t.durationHelp}
        error={(tried ? errors.time : undefined) ?? fieldProblem(ban.error, 'duration')}
      >
        {ids => (
          <>
            <input
              {...ids}
              className={parts.input}
              list={timesId}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              value={time}
              onChange={event => setTime(event.currentTarget.value)}
            />
            <datalist id={timesId}>
              {['10m', '1h', '1d', '7d', '30d', 'perm'].map(value => (
                <option key={value} value={value} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      <Field label={t.reason} help={t.reasonHelp} error={fieldProblem(ban.error, 'reason')}>
        {ids => (
          <input
            {...ids}
            className={parts.input}
            autoComplete="off"
            maxLength={500}
            value={reason}
            onChange={event => setReason(event.currentTarget.value)}
          />
        )}
      </Field>
      <Refusal error={withoutHint(ban.error)} />
      <div className={parts.row}>
        {canForce(ban.error) ? (
          <Button variant="danger" onClick={() => ban.mutate(true)} loading={ban.isPending}>
            {many ? t.forceOn(ids.length) : t.force}
          </Button>
        ) : (
          <Button type="submit" loading={ban.isPending}>
            {many && ids.length > 0 ? t.submitOn(ids.length) : t.submit}
          </Button>
        )}
        <Button variant="default" onClick={props.onClose}>
          {textsOf(commonTexts).cancel}
        </Button>
      </div>
    </form>
  )
}
