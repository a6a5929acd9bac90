import { useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { api, statusOf } from '../../api/client.ts'
import { useLive } from '../../api/live.ts'
import { optionsQuery, queries, serverQuery, summaryQuery } from '../../api/queries.ts'
import type { Server } from '../../api/queries.ts'
import { useKeptState } from '../../kit/draft.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import { useWords } from '../../kit/now.ts'
import { GonePage } from '../../kit/gone-page.tsx'
import { Page, Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Refusal, Trouble, fieldProblem } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { nameOf } from '../../lib/clip.ts'
import { isLocal } from '../../lib/local-url.ts'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { duration } from '../../lib/time.ts'
import { timeTexts } from '../../lib/time.texts.ts'
import { guardTexts } from '../server/guard.texts.ts'
import { addServerTexts } from './add-server.texts.ts'
import { Arrival } from './arrival.tsx'
import { storedCommands } from './kept-command.ts'
import { Expected, Meanwhile } from './meanwhile.tsx'
import { Tabs } from './tabs.tsx'
import { Ways } from './way-choice.tsx'
import styles from './add-server.module.css'

const hour = 3_600_000

export const AddServer = () => {
  const { id } = useSearch({ from: '/inside/servers/new' })
  return id ? <Watch key={id} id={id} /> : <NameIt />
}

const NameIt = () => {
  const t = textsOf(addServerTexts)
  const navigate = useNavigate()
  const [hostname, setHostname] = useKeptState('new server/name', '')
  const [description, setDescription] = useKeptState('new server/description', '')
  const [tried, setTried] = useState(false)
  const isFirst = useFirst()
  const create = useMutation({
    mutationFn: () => api.call('POST /servers', { body: { hostname: hostname.trim(), description } }),
    onSuccess: made => {
      storedCommands.put(made.id, made.install_command)
      void queries.invalidateQueries({ queryKey: ['servers'] })
      void navigate({ to: '/servers/new', search: { id: made.id } })
    },
  })
  const missing = tried && !hostname.trim() ? t.nameMissing : undefined
  const submit = () => {
    setTried(true)
    if (hostname.trim() && !create.isPending) create.mutate()
  }
  return (
    <Page title={t.title} tools={<Tabs />}>
      <Hero>
        <PlainForm onSubmit={submit}>
          <TextField
            label={t.name}
            help={t.nameHelp}
            error={missing ?? fieldProblem(create.error, 'hostname')}
            value={hostname}
            onValue={setHostname}
            most={253}
          />
          <TextField
            label={t.description}
            help={t.descriptionHelp}
            error={fieldProblem(create.error, 'description')}
            value={description}
            onValue={setDescription}
            most={1000}
          />
          <Refusal error={create.error} />
          <div className={parts.row}>
            <Button type="submit" loading={create.isPending}>
              {t.create}
            </Button>
          </div>
        </PlainForm>
      </Hero>
      <Meanwhile />
      {isFirst && <Expected />}
    </Page>
  )
}

/** Whether it is the first server, or nobody knows yet. */
const useFirst = (): boolean => {
  const counts = useQuery(summaryQuery).data?.counts
  return !counts || counts.online + counts.offline + counts.pending < 2
}

/** What the one command does, above the form and above the command. */
const Hero = (props: { children: ReactNode; aside?: ReactNode; server?: Server }) => {
  const { children, aside, server } = props
  const t = textsOf(addServerTexts)
  const isFirst = useFirst()
  const isProtected = server?.protection.level === 'protected'
  return (
    <Panel>
      <div className={styles.hero}>
        <div className={styles.way}>
          <FirstStakes isWhole={isProtected} />
          <div>
            <h2 className={parts.answer}>
              {isProtected ? <bdi>{t.isProtected(nameOf(server.hostname))}</bdi> : isFirst ? t.firstTitle : t.title}
            </h2>
            <p className={styles.intro}>{isProtected ? t.protectedIntro : t.intro}</p>
          </div>
          {children}
        </div>
        {aside}
      </div>
    </Panel>
  )
}

/** A fence with room for more; its first stake stands once the server is protected. */
const FirstStakes = ({ isWhole }: { isWhole: boolean }) => (
  <svg className={styles.stakes} viewBox="0 0 226 60" aria-hidden="true">
    <path data-whole={isWhole || undefined} d="M5.6 60V11L14 3l8.4 8v49z" />
    {[1, 2, 3, 4, 5, 6].map(at => (
      <path key={at} d="M6.4 59.2V11.7L14 4l7.6 7.7v47.5z" transform={`translate(${at * 33})`} />
    ))}
  </svg>
)

const Watch = ({ id }: { id: string }) => {
  const t = textsOf(addServerTexts)
  const { phase } = useLive()
  const isFirst = useFirst()
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
      <GonePage title={t.title} text={t.gone}>
        <ButtonLink to="/servers/new" search={{}}>
          {t.title}
        </ButtonLink>
      </GonePage>
    )
  const name = server.data?.hostname
  const heading = name === undefined ? t.title : t.titleOf(nameOf(name))
  return (
    <Page title={heading} heading={<bdi>{heading}</bdi>}>
      <Trouble what={t.what} query={server} />
      {!server.data && !server.error && <Waiting />}
      {server.data && (
        <Hero
          server={server.data}
          aside={
            <div className={styles.aside}>
              <Arrival server={server.data} />
            </div>
          }
        >
          {!server.data.install.first_heartbeat_at && <Command server={server.data} />}
        </Hero>
      )}
      <Meanwhile />
      {isFirst && <Expected />}
    </Page>
  )
}

/** The one command. It holds a secret that the service does not know any more: this tab keeps it until it was used. */
const Command = ({ server }: { server: Server }) => {
  const t = textsOf(addServerTexts)
  const [command, setCommand] = useState(() => storedCommands.get(server.id))
  const [isBackfilled, setBackfilled] = useState(false)
  const { token_expires_at, token_used_at } = server.install
  const baseUrl = useQuery(optionsQuery).data?.base_url ?? ownAddress
  const renew = useMutation({
    mutationFn: () => api.call('POST /servers/{serverId}/regenerate-token', { params: { serverId: server.id } }),
    onSuccess: made => {
      storedCommands.put(server.id, made.install_command)
      setCommand(made.install_command)
      void queries.invalidateQueries({ queryKey: ['server', server.id] })
    },
  })
  const left = useWords(now => {
    const time = token_expires_at === null ? 0 : Date.parse(token_expires_at) - now
    if (time <= 0) return ''
    return time > hour ? textsOf(timeTexts).hours(Math.ceil(time / hour)) : duration(Math.ceil(time / 60_000) * 60)
  })
  if (token_used_at !== null) return null
  return (
    <div className={parts.form}>
      <h3 className={styles.commandTitle}>{t.step2}</h3>
      {command && left ? (
        <>
          {command.includes(' --insecure-http') && <p className={parts.warn}>{textsOf(guardTexts).insecure}</p>}
          {isLocal(baseUrl) && (
            <p className={parts.warn}>
              {t.localhost(baseUrl)} <Link to="/settings/general">{t.toAddress}</Link>
            </p>
          )}
          <Ways command={isBackfilled ? `${command} --backfill` : command} />
          <label className={styles.option}>
            <input
              type="checkbox"
              checked={isBackfilled}
              onChange={event => setBackfilled(event.currentTarget.checked)}
            />{' '}
            {t.backfill}
          </label>
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
  )
}
