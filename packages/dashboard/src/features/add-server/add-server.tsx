import { useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { api, statusOf } from '../../api/client.ts'
import { useLive } from '../../api/live.ts'
import { optionsQuery, queries, serverQuery } from '../../api/queries.ts'
import type { Server } from '../../api/queries.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { CopyField } from '../../kit/copy.tsx'
import { Field } from '../../kit/field.tsx'
import { useWords } from '../../kit/now.ts'
import { Page, Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Refusal, Trouble, fieldProblem } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { clockTime, duration } from '../../lib/time.ts'
import { timeTexts } from '../../lib/time.texts.ts'
import { guardTexts } from '../server/guard.texts.ts'
import { addServerTexts } from './add-server.texts.ts'
import { kept } from './kept-command.ts'
import { lines, progressOf, stallOf } from './progress.ts'
import type { Line } from './progress.ts'
import styles from './add-server.module.css'
import { nameOf } from '../../lib/clip.ts'

export const AddServer = () => {
  const { id } = useSearch({ from: '/inside/servers/new' })
  return id ? <Watch key={id} id={id} /> : <NameIt />
}

const NameIt = () => {
  const t = textsOf(addServerTexts)
  const navigate = useNavigate()
  const [hostname, setHostname] = useState('')
  const [description, setDescription] = useState('')
  const [tried, setTried] = useState(false)
  const create = useMutation({
    mutationFn: () => api.call('POST /servers', { body: { hostname: hostname.trim(), description } }),
    onSuccess: made => {
      kept.put(made.id, made.install_command)
      void queries.invalidateQueries({ queryKey: ['servers'] })
      void navigate({ to: '/servers/new', search: { id: made.id } })
    },
  })
  const missing = tried && !hostname.trim() ? t.nameMissing : undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (hostname.trim() && !create.isPending) create.mutate()
  }
  return (
    <Page title={t.title}>
      <div className={styles.narrow}>
        <Panel title={t.step1}>
          <form className={parts.form} onSubmit={submit} noValidate>
            <Field label={t.name} help={t.nameHelp} error={missing ?? fieldProblem(create.error, 'hostname')}>
              {ids => (
                <input
                  {...ids}
                  className={parts.input}
                  autoComplete="off"
                  autoCapitalize="none"
                  autoCorrect="off"
                  spellCheck={false}
                  maxLength={253}
                  value={hostname}
                  onChange={event => setHostname(event.currentTarget.value)}
                />
              )}
            </Field>
            <Field label={t.description} help={t.descriptionHelp} error={fieldProblem(create.error, 'description')}>
              {ids => (
                <input
                  {...ids}
                  className={parts.input}
                  autoComplete="off"
                  maxLength={1000}
                  value={description}
                  onChange={event => setDescription(event.currentTarget.value)}
                />
              )}
            </Field>
            <Refusal error={create.error} />
            <div className={parts.row}>
              <Button type="submit" loading={create.isPending}>
                {t.create}
              </Button>
            </div>
          </form>
        </Panel>
      </div>
    </Page>
  )
}

const Watch = ({ id }: { id: string }) => {
  const t = textsOf(addServerTexts)
  const { phase } = useLive()
  const server = useQuery({
    ...serverQuery(id),
    // Messages tell of most steps at once; that the script was fetched is only seen by asking.
    refetchInterval: query =>
      query.state.data?.install.first_ban_at
        ? false
        : phase === 'live' && query.state.data?.install.token_used_at
          ? 5000
          : 2000,
  })
  if (statusOf(server.error) === 404 || statusOf(server.error) === 400)
    return (
      <Page title={t.title}>
        <div className={parts.empty}>
          <p>{t.gone}</p>
          <ButtonLink to="/servers/new" search={{}}>
            {t.title}
          </ButtonLink>
        </div>
      </Page>
    )
  const name = server.data?.hostname
  const heading = name === undefined ? t.title : t.titleOf(nameOf(name))
  return (
    <Page title={heading} heading={<bdi>{heading}</bdi>}>
      <div className={styles.narrow}>
        <Trouble what={t.what} query={server} />
        {!server.data && !server.error && <Waiting />}
        {server.data && (
          <>
            {!server.data.install.first_heartbeat_at && <Command server={server.data} />}
            <Arrival server={server.data} />
          </>
        )}
      </div>
    </Page>
  )
}

/** The one command. It holds a secret that the service does not know any more: this tab keeps it until it was used. */
const Command = ({ server }: { server: Server }) => {
  const t = textsOf(addServerTexts)
  const [command, setCommand] = useState(() => kept.get(server.id))
  const { token_expires_at, token_used_at } = server.install
  const renew = useMutation({
    mutationFn: () => api.call('POST /servers/{serverId}/regenerate-token', { params: { serverId: server.id } }),
    onSuccess: made => {
      kept.put(server.id, made.install_command)
      setCommand(made.install_command)
      void queries.invalidateQueries({ queryKey: ['server', server.id] })
    },
  })
  const left = useWords(now => {
    const time = token_expires_at === null ? 0 : Date.parse(token_expires_at) - now
    return time <= 0 ? '' : textsOf(timeTexts).left(duration(Math.ceil(time / 60_000) * 60))
  })
  if (token_used_at !== null) return null
  return (
    <Panel title={t.step2}>
      <div className={parts.form}>
        {command && left ? (
          <>
            {command.includes(' --insecure-http') && <p className={parts.warn}>{textsOf(guardTexts).insecure}</p>}
            <CopyField text={command} label={t.commandLabel} />
            <p className={parts.help}>{t.worksOnce(left)}</p>
            <p className={parts.help}>{t.command}</p>
          </>
        ) : (
          <>
            <p>{left ? t.hiddenCommand : t.expired}</p>
            <div>
              <Button onClick={() => renew.mutate()} loading={renew.isPending}>
                {t.newCommand}
              </Button>
            </div>
          </>
        )}
        <Refusal error={renew.error} />
      </div>
    </Panel>
  )
}

const Arrival = ({ server }: { server: Server }) => {
  const t = textsOf(addServerTexts)
  const [since] = useState(() => Date.now())
  const progress = progressOf(server)
  const stall = useWords(now => stallOf(server, since, now) ?? '')
  const { install } = server
  const baseUrl = useQuery(optionsQuery).data?.base_url ?? ownAddress
  const done = progress.ban === 'done'
  const bodies: Record<Line, React.ReactNode> = {
    called: (
      <>
        {progress.called === 'waiting' && (
          <p>
            {install.script_fetched_at
              ? t.scriptFetched(clockTime(Date.parse(install.script_fetched_at)))
              : t.calledWaiting}
          </p>
        )}
        {install.token_used_at && (
          <p>{t.tokenUsed(install.token_used_from ?? '', clockTime(Date.parse(install.token_used_at)))}</p>
        )}
        {stall === 'no call' && (
          <div className={styles.stall} role="status">
            <p>{t.stalledCall}</p>
            <ol>
              {t.stalledCallCauses(baseUrl).map(cause => (
                <li key={cause}>{cause}</li>
              ))}
            </ol>
          </div>
        )}
      </>
    ),
    heartbeat: (
      <>
        {progress.heartbeat !== 'done' && <p className={parts.muted}>{t.heartbeatNext}</p>}
        {progress.heartbeat === 'done' && (
          <p>
            <Stranger
              text={t.heartbeatDone(server.hostname, server.os ?? t.unknownOs, server.engine_version ?? t.noEngine)}
              most={200}
            />
          </p>
        )}
        {stall === 'no heartbeat' && (
          <div className={styles.stall} role="status">
            <p>{t.stalledHeartbeat}</p>
            <CopyField text={t.journal} label={t.journalLabel} />
          </div>
        )}
        {stall === 'no engine' && (
          <div className={styles.stall} role="status">
            <p>{t.noEngineHelp}</p>
            <CopyField text={t.engineInstall} label={t.engineInstallLabel} />
          </div>
        )}
      </>
    ),
    jails: (
      <>
        {progress.jails === 'done' && (
          <Jails names={server.jails.filter(jail => jail.enabled).map(jail => jail.name)} />
        )}
        {stall === 'no jails' && (
          <div className={styles.stall} role="status">
            <p>{t.jailsNone}</p>
            <p>{t.noJailsHelp}</p>
            <CopyField text={t.jailConfig} label={t.jailConfigLabel} />
          </div>
        )}
      </>
    ),
    ban: (
      <>
        {progress.ban === 'waiting' && <p>{t.banWaiting}</p>}
        {progress.ban === 'waiting' && <TestBan serverId={server.id} />}
        {install.first_ban_at && <p>{t.banDone(clockTime(Date.parse(install.first_ban_at)))}</p>}
      </>
    ),
  }
  return (
    <>
      <Panel title={t.step3}>
        <ol className={styles.lines} aria-live="polite">
          {lines.map(line => (
            <li key={line} className={styles.line} data-line={line} data-state={progress[line]}>
              <State is={progress[line]} />
              <div className={styles.body}>
                <h3>{t.lines[line]}</h3>
                {bodies[line]}
              </div>
            </li>
          ))}
        </ol>
      </Panel>
      {done ? (
        <div className={parts.row}>
          <ButtonLink to="/bans" search={{ server: server.id }}>
            {t.toBans}
          </ButtonLink>
          <ButtonLink to="/servers/$serverId" params={{ serverId: server.id }} variant="default">
            {t.toServer}
          </ButtonLink>
          <ButtonLink to="/servers/new" search={{}} variant="default">
            {t.another}
          </ButtonLink>
        </div>
      ) : (
        <p className={parts.help}>
          {t.leaving}{' '}
          <Link to="/servers/$serverId" params={{ serverId: server.id }}>
            {t.toServer}
          </Link>
        </p>
      )}
    </>
  )
}

const Jails = ({ names }: { names: readonly string[] }) => (
  <p>
    {names.slice(0, 30).map((name, index) => (
      <span key={name}>
        {index > 0 && ', '}
        <Stranger text={name} most={64} />
      </span>
    ))}
    {names.length > 30 && ` +${names.length - 30}`}
  </p>
)

/** Shows the whole way without waiting for an attacker. 192.0.2.1 is nobody's (RFC 5737). */
const TestBan = ({ serverId }: { serverId: string }) => {
  const t = textsOf(addServerTexts)
  const ban = useMutation({
    mutationFn: () =>
      api.call('POST /servers/{serverId}/bans', {
        params: { serverId },
        body: { ip: '192.0.2.1', duration: 60, reason: t.testReason },
      }),
  })
  return ban.isSuccess ? (
    <p role="status">{t.testBanSent}</p>
  ) : (
    <>
      <Button variant="default" onClick={() => ban.mutate()} loading={ban.isPending}>
        {t.testBan}
      </Button>
      <p className={parts.help}>{t.testBanHelp}</p>
      <Refusal error={ban.error} />
    </>
  )
}
