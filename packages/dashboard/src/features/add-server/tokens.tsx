import { lazy, useState } from 'react'
import { Button } from '@mantine/core'
import { IconPlus, IconTicket } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { api, statusOf } from '../../api/client.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { Dialogs } from '../../kit/dialogs.tsx'
import { GonePage } from '../../kit/gone-page.tsx'
import { Empty } from '../../kit/list-states.tsx'
import { Loading } from '../../kit/loading.tsx'
import { useWords } from '../../kit/now.ts'
import { Page, Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { Mark } from '../../kit/state.tsx'
import type { Tone } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time, TimeSentence } from '../../kit/time.tsx'
import { toasts } from '../../kit/toasts.ts'
import { nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Confirm } from '../identity/dialogs.ts'
import { limitsTexts } from '../identity/limits.texts.ts'
import { Tabs } from './tabs.tsx'
import type { NewToken } from './token-dialog.tsx'
import { readTokensAgain, tokenQuery, tokensQuery } from './token-queries.ts'
import type { EnrolmentToken } from './token-queries.ts'
import { enrolmentTokensTexts } from './enrolment-tokens.texts.ts'
import styles from './tokens.module.css'

const NewTokenDialog = lazy(() => import('./token-dialog.tsx'))
const CommandDialog = lazy(async () => ({ default: (await import('./token-dialog.tsx')).CommandDialog }))

/** Tokens that enrol many servers: the list, or one of them with who used it. */
export const ManyServers = () => {
  const { token } = useSearch({ from: '/inside/servers/tokens' })
  return token === undefined ? <Tokens /> : <OneToken key={token} id={token} />
}

const Tokens = () => {
  const t = textsOf(enrolmentTokensTexts)
  const [open, setOpen] = useState<'new' | NewToken | null>(null)
  const query = useQuery(tokensQuery)
  const tokens = query.data?.tokens
  const close = () => setOpen(null)
  const add = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setOpen('new')}>
      {t.add}
    </Button>
  )
  return (
    <Page title={t.title} tools={<Tabs />} actions={tokens && tokens.length > 0 && add}>
      <p className={parts.muted}>{t.lead}</p>
      <Loading what={t.what} query={query} />
      {tokens?.length === 0 && (
        <Empty icon={<IconTicket size={32} stroke={1.5} />} title={t.emptyTitle} text={t.empty}>
          {add}
        </Empty>
      )}
      {tokens && tokens.length > 0 && (
        <Panel>
          <ul className={styles.tokens} aria-label={t.title}>
            {tokens.map(token => (
              <TokenRow key={token.id} token={token} />
            ))}
          </ul>
        </Panel>
      )}
      <Dialogs>
        {open === 'new' && <NewTokenDialog onMade={setOpen} onClose={close} />}
        {open !== null && open !== 'new' && <CommandDialog made={open} onClose={close} />}
      </Dialogs>
    </Page>
  )
}

const TokenRow = ({ token }: { token: EnrolmentToken }) => (
  <li className={styles.token}>
    <h2>
      <Link to="/servers/tokens" search={{ token: token.id }}>
        <Stranger text={token.name} most={100} />
      </Link>
    </h2>
    <StateOf token={token} />
    <Facts token={token} />
    <Revoke token={token} />
  </li>
)

const tones: Readonly<Record<EnrolmentToken['state'], Tone>> = {
  open: 'ok',
  suspended: 'warn',
  used_up: 'neutral',
  ended: 'neutral',
  revoked: 'neutral',
}
const StateOf = ({ token: { state } }: { token: EnrolmentToken }) => (
  <Mark tone={tones[state]}>{textsOf(enrolmentTokensTexts).states[state]}</Mark>
)

/** How much of it is used, and what it is bound by. */
const Facts = ({ token }: { token: EnrolmentToken }) => {
  const t = textsOf(enrolmentTokensTexts)
  const isOver = useWords(now => (Date.parse(token.ends_at) <= now ? 'over' : '')) !== ''
  return (
    <div className={styles.facts}>
      <p className={parts.facts}>
        <span>{t.used(token.used, number(token.servers))}</span>
        <TimeSentence at={token.ends_at} say={isOver ? t.ended : t.ends} />
        {token.tags.length > 0 && <span>{t.tagged(token.tags.join(', '))}</span>}
        {token.networks !== null && <span>{textsOf(limitsTexts).from(token.networks.join(', '))}</span>}
        <span>{t.by(nameOf(token.created_by))}</span>
      </p>
      {token.refused_at !== null && token.refused_from !== null && (
        <p className={parts.muted}>
          {t.refused(token.refused)} <Address of={token.refused_from} />, <Time at={token.refused_at} />
        </p>
      )}
      {token.state === 'suspended' && <p className={parts.warn}>{t.suspended(nameOf(token.created_by))}</p>}
    </div>
  )
}
const Address = ({ of }: { of: string }) => (
  <Link to="/ip/$addr" params={{ addr: of }} className={parts.mono}>
    {of}
  </Link>
)

/** Of a token that enrols, or would again. */
const Revoke = ({ token }: { token: EnrolmentToken }) => {
  const t = textsOf(enrolmentTokensTexts)
  const [isAsked, setAsked] = useState(false)
  if (token.state !== 'open' && token.state !== 'suspended') return null
  const name = nameOf(token.name)
  const revoke = async () => {
    await api.call('DELETE /servers/enrolment-tokens/{id}', { params: { id: token.id } })
    await readTokensAgain()
    toasts.show({ text: t.revoked(name) })
  }
  return (
    <div className={styles.acts}>
      <SmallButton aria-label={t.revokeOf(name)} onClick={() => setAsked(true)}>
        {t.revoke}
      </SmallButton>
      {isAsked && (
        <Dialogs>
          <Confirm
            title={t.revokeOf(name)}
            text={t.revokeText(name)}
            verb={t.revokeNow}
            act={revoke}
            onClose={() => setAsked(false)}
          />
        </Dialogs>
      )}
    </div>
  )
}

/** More rows than that are no list to read. */
const mostRows = 200

const OneToken = ({ id }: { id: number }) => {
  const t = textsOf(enrolmentTokensTexts)
  const query = useQuery(tokenQuery(id))
  if (statusOf(query.error) === 404 || statusOf(query.error) === 400)
    return (
      <GonePage title={t.title} text={t.gone}>
        <ButtonLink to="/servers/tokens" search={{}}>
          {t.title}
        </ButtonLink>
      </GonePage>
    )
  const token = query.data
  const heading = token === undefined ? t.title : nameOf(token.name)
  return (
    <Page
      title={heading}
      heading={<bdi>{heading}</bdi>}
      above={
        <Link to="/servers/tokens" search={{}}>
          {t.title}
        </Link>
      }
    >
      <Loading what={t.whatOne} query={query} />
      {token && (
        <>
          <Panel>
            <div className={styles.alone}>
              <StateOf token={token} />
              <Facts token={token} />
              <Revoke token={token} />
            </div>
          </Panel>
          <Enrolled of={token.enrolled} total={token.used} />
        </>
      )}
    </Page>
  )
}

type Host = { readonly server_id: string; readonly hostname: string; readonly ip: string; readonly enrolled_at: string }
const Enrolled = ({ of, total }: { of: readonly Host[]; total: number }) => {
  const t = textsOf(enrolmentTokensTexts)
  return (
    <Panel title={t.enrolled}>
      {of.length === 0 && <p className={parts.muted}>{t.nobody}</p>}
      <ul className={styles.hosts} aria-label={t.enrolled}>
        {of.slice(0, mostRows).map(host => (
          <li key={host.server_id}>
            <Link to="/servers/$serverId/overview" params={{ serverId: host.server_id }}>
              <Stranger text={host.hostname} most={100} />
            </Link>
            <span className={parts.muted}>
              {t.from} <Address of={host.ip} />, <Time at={host.enrolled_at} />
            </span>
          </li>
        ))}
      </ul>
      {total > mostRows && <p className={parts.muted}>{t.more(total - mostRows)}</p>}
    </Panel>
  )
}
