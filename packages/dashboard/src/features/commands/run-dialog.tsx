import { useId, useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { jailsQuery, queries, summaryQuery } from '../../api/queries.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { Picks } from '../fleet/picks.tsx'
import { templatesQuery } from '../fleet/queries.ts'
import type { CommandType } from '../fleet/queries.ts'
import { questionOf, toldOf } from '../fleet/ssh-asked.ts'
import type { SshQuestion as Question } from '../fleet/ssh-asked.ts'
import { tellBanned, tellSwitchedMany } from '../fleet/undo.ts'
import { Field } from '../../kit/field.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { readRange } from '../../lib/address.ts'
import { readDuration } from '../../lib/time.ts'
import { isWide } from '../whitelist/lines.ts'
import { commandsTexts } from './commands.texts.ts'
import { commandTypes } from './filter.ts'
import { SshQuestion } from './ssh-question.tsx'

/** Any command for any servers, with the form that its type needs; deploying has a page of its own. */
const types = commandTypes.filter(type => type !== 'deploy-template')

const RunDialog = (props: {
  type: CommandType
  server?: string | undefined
  servers?: ReadonlySet<string>
  jail?: string | undefined
  onClose: () => void
}) => (
  <Dialog title={textsOf(commandsTexts).dialog.title} onClose={props.onClose}>
    <Form {...props} />
  </Dialog>
)
export default RunDialog

const Form = (props: {
  type: CommandType
  server?: string | undefined
  servers?: ReadonlySet<string>
  jail?: string | undefined
  onClose: () => void
}) => {
  const t = textsOf(commandsTexts).dialog
  const names = textsOf(fleetTexts).types
  const navigate = useNavigate()
  const [type, setType] = useState<CommandType>(props.type)
  const [servers, setServers] = useState<ReadonlySet<string>>(
    props.servers ?? new Set(props.server ? [props.server] : []),
  )
  const [jail, setJail] = useState(props.jail ?? '')
  const [ip, setIp] = useState('')
  const [time, setTime] = useState('')
  const [template, setTemplate] = useState('')
  const [again, setAgain] = useState('')
  const [tried, setTried] = useState(false)
  const jailsId = useId()
  const [first = ''] = servers
  const [question, setQuestion] = useState<Question | null>(null)
  const all = useQuery(summaryQuery).data?.servers ?? []
  const chosen = all.filter(({ id }) => servers.has(id))
  const away = chosen.filter(({ status }) => status !== 'online').length
  const only = servers.size === 1 ? first : ''
  const jails = useQuery({ ...jailsQuery(only), enabled: only !== '' }).data?.jails ?? []
  const templates = useQuery({ ...templatesQuery({}), enabled: type === 'remove-template' }).data?.templates ?? []
  const needsJail = type.startsWith('jail-') || type.endsWith('-ip')
  // Nothing is left to be typed: who only presses Enter has not read it.
  const calm = props.servers !== undefined && !props.type.endsWith('-ip')
  const needsIp = type.endsWith('-ip')
  const wide = type === 'ban-ip' && isWide(ip)
  const seconds = time.trim() ? readDuration(time) : undefined
  const errors = {
    jail: !needsJail
      ? undefined
      : jail.trim() === ''
        ? type === 'unban-ip'
          ? undefined
          : t.noJail
        : /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(jail.trim())
          ? undefined
          : t.wrongJail,
    ip: needsIp && !readRange(ip) ? t.wrongIp : undefined,
    time: type === 'ban-ip' && seconds === null ? t.wrongDuration : undefined,
    template: type === 'remove-template' && template === '' ? t.noTemplate : undefined,
    again: wide && again.trim() !== ip.trim() ? t.wideWrong : undefined,
    servers: servers.size === 0 ? t.noServers : undefined,
  }
  const params = {
    ...(needsJail ? { jail: jail.trim() || '*' } : {}),
    ...(needsIp ? { ip: ip.trim() } : {}),
    ...(type === 'ban-ip' && typeof seconds === 'number' ? { duration: seconds } : {}),
    ...(type === 'remove-template' ? { template_name: template } : {}),
  }
  const named = [...servers].map(id => ({ id, hostname: all.find(server => server.id === id)?.hostname ?? id }))
  const on = type === 'jail-enable'
  const removes = type === 'remove-template'
  const switches = on || type === 'jail-disable'
  const run = useMutation({
    /** `before`: the servers where the jail is the other way, so that there is something to undo. */
    mutationFn: async (_before: readonly string[]) => {
      if (only !== '') {
        const { id } = await api.call('POST /servers/{serverId}/commands', {
          params: { serverId: only },
          body: { type, params },
        })
        return { commands: [{ id, server_id: only, params_index: 0 }], batchId: undefined }
      }
      const body = { server_ids: [...servers], type, params }
      const { batch_id, commands } = await api.call('POST /commands/batch', { body })
      return { commands, batchId: batch_id }
    },
    onSuccess: ({ commands, batchId }, before) => {
      void queries.invalidateQueries({ queryKey: ['commands'] })
      const ids = commands.map(({ id }) => id)
      const [commandId = ''] = ids
      const names = named.map(({ hostname }) => hostname)
      if (type === 'ban-ip') tellBanned(ip.trim(), names, ids, batchId)
      const other = named.filter(({ id }) => before.includes(id))
      if (switches) tellSwitchedMany(jail.trim(), named, on, other, { commands, batchId })
      if (batchId === undefined) void navigate({ to: '/commands/$commandId', params: { commandId } })
      else void navigate({ to: '/batches/$batchId', params: { batchId }, search: {} })
    },
  })
  const look = useMutation({
    mutationFn: async () => {
      const name = removes ? template : jail.trim()
      const told = await toldOf(name)
      return {
        question: on ? null : questionOf(name, removes, named, told),
        before: told.jails.filter(({ enabled }) => enabled !== on).map(({ server }) => server.id),
      }
    },
    onSuccess: ({ question, before }) => {
      if (question) setQuestion(question)
      else run.mutate(before)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (Object.values(errors).some(error => error !== undefined) || look.isPending || run.isPending) return
    if (switches || removes) look.mutate()
    else run.mutate([])
  }
  const shown = <K extends keyof typeof errors>(name: K) => (tried ? errors[name] : undefined)
  const plain = { className: parts.input, autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const
  if (question)
    return (
      <SshQuestion
        question={question}
        busy={run.isPending}
        error={run.error}
        onYes={() => run.mutate(look.data?.before ?? [])}
        onNo={() => {
          run.reset()
          setQuestion(null)
        }}
      />
    )
  return (
    <form className={parts.form} onSubmit={submit} noValidate>
      <Field label={t.what}>
        {ids => (
          <select
            {...ids}
            className={parts.input}
            data-autofocus={calm ? undefined : true}
            value={type}
            onChange={event => {
              const chosen = types.find(known => known === event.currentTarget.value)
              if (chosen) setType(chosen)
            }}
          >
            {types.map(known => (
              <option key={known} value={known}>
                {names[known]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {needsIp && (
        <Field label={t.ip} error={shown('ip')}>
          {ids => (
            <input {...ids} {...plain} dir="ltr" value={ip} onChange={event => setIp(event.currentTarget.value)} />
          )}
        </Field>
      )}
      {needsJail && (
        <Field label={t.jail} help={type === 'unban-ip' ? t.jailOrAll : t.jailHelp} error={shown('jail')}>
          {ids => (
            <>
              <input
                {...ids}
                {...plain}
                dir="ltr"
                list={jailsId}
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
      )}
      {type === 'ban-ip' && (
        <Field label={t.duration} help={t.durationHelp} error={shown('time')}>
          {ids => <input {...ids} {...plain} value={time} onChange={event => setTime(event.currentTarget.value)} />}
        </Field>
      )}
      {type === 'remove-template' && (
        <Field label={t.template} error={shown('template')}>
          {ids => (
            <select
              {...ids}
              className={parts.input}
              value={template}
              onChange={event => setTemplate(event.currentTarget.value)}
            >
              <option value="">{t.noTemplate}</option>
              {templates.map(({ name, display_name }) => (
                <option key={name} value={name}>
                  {display_name}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Picks chosen={servers} onChosen={setServers} away={() => ''} error={shown('servers')} />
      {servers.size > 0 && (
        <p className={parts.note} role="status">
          {textsOf(commandsTexts).runsOn(servers.size, away)}
        </p>
      )}
      {wide && (
        <Field label={t.wide(ip.trim())} error={shown('again')}>
          {ids => (
            <input
              {...ids}
              {...plain}
              dir="ltr"
              value={again}
              onChange={event => setAgain(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
      {type === 'service-restart' && <p className={parts.warn}>{t.restart}</p>}
      {type === 'jail-disable' && <p className={parts.warn}>{t.disable}</p>}
      <Refusal error={run.error} />
      <div className={parts.row}>
        <Button type="submit" loading={look.isPending || run.isPending}>
          {servers.size === 0 ? t.submit : t.submitOn(names[type], servers.size)}
        </Button>
        <Button variant="default" onClick={props.onClose} data-autofocus={calm ? true : undefined}>
          {textsOf(commonTexts).cancel}
        </Button>
      </div>
    </form>
  )
}
