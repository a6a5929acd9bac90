import { useId, useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ApiError, api } from '../../api/client.ts'
import { jailsQuery, summaryQuery } from '../../api/queries.ts'
import { CommandProgress } from '../../parts/command-progress.tsx'
import { Field } from '../../parts/field.tsx'
import { Dialog } from '../../parts/modal.tsx'
import parts from '../../parts/parts.module.css'
import { Refusal, fieldProblem } from '../../parts/trouble.tsx'
import { textsOf } from '../../texts/catalogue.ts'
import { commonTexts } from '../../texts/common.texts.ts'
import { readRange } from '../../words/address.ts'
import { readDuration } from '../../words/time.ts'
import { banDialogTexts } from './ban-dialog.texts.ts'
import { nameOf } from '../../words/clip.ts'

/** Only what touches one's own, a server's or a loopback address can be forced; the API says so in its sentence. */
const canForce = (error: unknown) =>
  error instanceof ApiError && error.status === 409 && error.message.includes('"force": true')
const withoutHint = (error: unknown) => {
  if (!(error instanceof ApiError) || !canForce(error)) return error
  return new ApiError(409, { ...error.body, message: error.message.replace(/\s*Send "force": true.*$/, '') }, null)
}

const BanDialog = (props: { onClose: () => void; server?: string | undefined; ip?: string | undefined }) => (
  <Dialog title={textsOf(banDialogTexts).title} onClose={props.onClose}>
    <Form {...props} />
  </Dialog>
)
export default BanDialog

const Form = (props: { onClose: () => void; server?: string | undefined; ip?: string | undefined }) => {
  const t = textsOf(banDialogTexts)
  const servers = useQuery(summaryQuery).data?.servers ?? []
  const only = servers.length === 1 ? servers[0]?.id : undefined
  const [ip, setIp] = useState(props.ip ?? '')
  const [chosen, setChosen] = useState(props.server ?? '')
  const [jail, setJail] = useState('')
  const [time, setTime] = useState('')
  const [reason, setReason] = useState('')
  const [tried, setTried] = useState(false)
  const jailsId = useId()
  const timesId = useId()
  const serverId = chosen || (only ?? '')
  const server = servers.find(({ id }) => id === serverId)
  const jails = useQuery({ ...jailsQuery(serverId), enabled: serverId !== '' }).data?.jails ?? []
  const seconds = time.trim() ? readDuration(time) : undefined

  const ban = useMutation({
    mutationFn: (force: boolean) =>
      api.call('POST /servers/{serverId}/bans', {
        params: { serverId },
        body: {
          ip: ip.trim(),
          ...(jail.trim() ? { jail: jail.trim() } : {}),
          ...(seconds !== undefined && seconds !== null ? { duration: seconds } : {}),
          ...(reason.trim() ? { reason: reason.trim() } : {}),
          ...(force ? { force: true } : {}),
        },
      }),
  })
  const errors = {
    ip: readRange(ip) ? undefined : t.wrongIp,
    server: serverId ? undefined : t.noServer,
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
          <bdi>{t.queued(ip.trim(), nameOf(server?.hostname ?? ''))}</bdi>
        </p>
        <CommandProgress commandId={ban.data.command_id} done={t.banned} />
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
        error={tried ? errors.server : undefined}
        help={server && server.status !== 'online' ? t.waits(nameOf(server.hostname)) : undefined}
      >
        {ids => (
          <select
            {...ids}
            className={parts.input}
            value={serverId}
            onChange={event => setChosen(event.currentTarget.value)}
          >
            {!only && <option value="">{t.chooseServer}</option>}
            {servers.map(({ id, hostname }) => (
              <option key={id} value={id}>
                {nameOf(hostname)}
              </option>
            ))}
          </select>
        )}
      </Field>
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
            {t.force}
          </Button>
        ) : (
          <Button type="submit" loading={ban.isPending}>
            {t.submit}
          </Button>
        )}
        <Button variant="default" onClick={props.onClose}>
          {textsOf(commonTexts).cancel}
        </Button>
      </div>
    </form>
  )
}
