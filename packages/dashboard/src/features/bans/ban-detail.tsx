import { useEffect, useRef } from 'react'
import { IconArrowLeft, IconX } from '@tabler/icons-react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { queryTerm } from '@stockade/contract/query/index.ts'
import { api, statusOf } from '../../api/client.ts'
import { banQuery } from '../../api/queries.ts'
import type { Ban } from '../../api/queries.ts'
import { useTitle } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Lines, Stranger } from '../../kit/stranger.tsx'
import { Ends, Time } from '../../kit/time.tsx'
import { BriefTrouble, Trouble } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { number } from '../../lib/numbers.ts'
import { duration, exactTime } from '../../lib/time.ts'
import { stateOf } from './ban-state.ts'
import { bansTexts } from './bans.texts.ts'
import { BanValue } from './narrowing.tsx'
import { Unban } from './unban.tsx'
import styles from './bans.module.css'

/** One ban, beside the list or as a page of its own. Escape closes it. */
export const BanDetail = ({ banId, whole = false }: { banId: number; whole?: boolean }) => {
  const t = textsOf(bansTexts)
  const ban = useQuery(banQuery(banId))
  const search = useSearch({ from: '/inside/bans' })
  const navigate = useNavigate()
  const title = useRef<HTMLHeadingElement>(null)
  useTitle(ban.data ? ban.data.ip : t.title)
  useEffect(() => title.current?.focus({ preventScroll: true }), [banId])
  const close = async () => {
    await navigate({ to: '/bans', search })
    document.querySelector<HTMLElement>(`[data-ban="${banId}"]`)?.focus()
  }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !document.querySelector('[role="dialog"], [role="menu"]')) void close()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
  const Title = whole ? 'h1' : 'h2'
  const missing = statusOf(ban.error) === 404
  return (
    <section className={styles.detail} aria-label={ban.data ? t.details(ban.data.ip) : t.whatOne}>
      <header className={styles.detailHead} data-whole={whole || undefined}>
        <Title tabIndex={-1} ref={title}>
          <bdi>{ban.data?.ip ?? (missing ? t.gone : '…')}</bdi>
        </Title>
        <button type="button" className={styles.close} aria-label={t.close} onClick={close}>
          {whole ? <IconArrowLeft size={18} /> : <IconX size={18} />}
        </button>
      </header>
      {!missing && <Trouble what={t.whatOne} query={ban} />}
      {ban.isPending && <Waiting lines={6} />}
      {ban.data && <Facts ban={ban.data} whole={whole} />}
    </section>
  )
}

/** How many bans there are of an address or a range. */
const countQuery = (ip: string) =>
  queryOptions({
    queryKey: ['counts', 'ip', ip],
    queryFn: async ({ signal }) => (await api.call('GET /bans', { query: { ip, limit: 1 }, signal })).total,
  })
/** The /24 or /64 around an address; null for what is a range itself. */
const neighboursOf = (ip: string): string | null => {
  if (ip.includes('/')) return null
  if (!ip.includes(':')) return `${ip.split('.').slice(0, 3).join('.')}.0/24`
  const [head = '', tail = ''] = ip.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === '' ? [] : tail.split(':')
  const groups = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after]
  return `${groups.slice(0, 4).join(':')}::/64`
}

/** Where, when and by whom. */
const Course = ({ ban }: { ban: Ban }) => {
  const t = textsOf(bansTexts)
  return (
    <>
      <dt>{t.server}</dt>
      <dd>
        <BanValue
          field="server"
          value={ban.server.hostname}
          link={
            <Link to="/servers/$serverId" params={{ serverId: ban.server.id }}>
              <Stranger text={ban.server.hostname} most={80} />
            </Link>
          }
        />
      </dd>
      <dt>{t.jail}</dt>
      <dd>
        <BanValue field="jail" value={ban.jail}>
          <Stranger text={ban.jail} most={64} />
        </BanValue>
      </dd>
      <dt>{t.bannedAt}</dt>
      <dd>
        <time dateTime={ban.banned_at}>{exactTime(Date.parse(ban.banned_at))}</time>
      </dd>
      <dt>{t.length}</dt>
      <dd>{ban.ban_duration === null ? textsOf(commonTexts).unknown : duration(ban.ban_duration)}</dd>
      <dt>{t.by}</dt>
      <dd>
        <BanValue field="by" value={ban.banned_by}>
          {ban.banned_by === 'engine' ? t.engine : <Stranger text={ban.banned_by} most={80} />}
        </BanValue>
      </dd>
    </>
  )
}

/** The place and the network that the address belongs to. */
const Origin = ({ ban, place, network }: { ban: Ban; place: string; network: string }) => {
  const t = textsOf(bansTexts)
  const { unknown } = textsOf(commonTexts)
  return (
    <>
      <dt>{t.place}</dt>
      <dd>
        {ban.country ? (
          <BanValue field="country" value={ban.country} shown={place}>
            <Stranger text={place} most={120} />
          </BanValue>
        ) : (
          unknown
        )}
      </dd>
      <dt>{t.network}</dt>
      <dd>
        {ban.asn ? (
          <BanValue field="asn" value={ban.asn.replace(/^AS/, '')} shown={network}>
            <Stranger text={network} most={160} />
          </BanValue>
        ) : (
          unknown
        )}
      </dd>
    </>
  )
}

/** What others think of the address, and what the ban kept off. */
const Consequences = ({ ban }: { ban: Ban }) => {
  const t = textsOf(bansTexts)
  return (
    <>
      {ban.reputation_score !== null && ban.reputation_score !== undefined && (
        <>
          <dt>{t.score}</dt>
          <dd>{t.scoreOf(ban.reputation_score)}</dd>
        </>
      )}
      {ban.dropped_packets !== null && (
        <>
          <dt>{t.dropped}</dt>
          <dd>
            {number(ban.dropped_packets)}{' '}
            {ban.dropped_at !== null && (
              <span className={parts.muted}>
                <Time at={ban.dropped_at} />
              </span>
            )}
          </dd>
        </>
      )}
      <dt>{t.reported}</dt>
      <dd>{ban.reported_to_reputation_db ? t.yes : t.no}</dd>
    </>
  )
}

/** More about the address, and about its neighbours. */
const Links = ({ ban }: { ban: Ban }) => {
  const t = textsOf(bansTexts)
  const range = neighboursOf(ban.ip)
  const counted = useQuery(countQuery(ban.ip))
  const counts = useQuery({ ...countQuery(range ?? ''), enabled: range !== null })
  const [others, around] = [counted.data, counts.data]
  const countAgain = () => void Promise.all([counted.refetch(), counts.refetch()])
  return (
    <>
      <Link to="/ip/$addr" params={{ addr: ban.ip }} className={parts.link}>
        {t.lookUp}
      </Link>
      <Link to="/bans" search={{ q: queryTerm('ip', ban.ip) }} className={parts.link}>
        {t.others(others === undefined ? '…' : number(others))}
      </Link>
      {range && (
        <Link to="/bans" search={{ q: queryTerm('ip', range) }} className={parts.link}>
          {t.neighbours(range, around === undefined ? '…' : number(around))}
        </Link>
      )}
      <BriefTrouble what={t.whatCount} query={{ ...(counted.error ? counted : counts), refetch: countAgain }} />
    </>
  )
}

const Facts = ({ ban, whole }: { ban: Ban; whole: boolean }) => {
  const Sub = whole ? 'h2' : 'h3'
  const t = textsOf(bansTexts)
  const place = [ban.city, ban.country_name ?? ban.country].filter(Boolean).join(', ')
  const network = [ban.asn, ban.asn_org].filter(Boolean).join(' · ')
  return (
    <>
      <div className={parts.row}>
        <State is={stateOf(ban)} tinted />
        <span className={parts.muted}>
          <Ends ban={ban} />
        </span>
      </div>
      <div className={`${styles.under ?? ''} ${parts.atBottom ?? ''}`}>
        <Unban ban={ban} wide />
      </div>
      <dl className={parts.details}>
        <Course ban={ban} />
        <Origin ban={ban} place={place} network={network} />
        <Consequences ban={ban} />
      </dl>
      <Sub className={styles.sub}>{t.logLines}</Sub>
      {ban.log_lines ? (
        <Lines text={ban.log_lines} address={ban.ip} label={t.logLines} />
      ) : (
        <p className={parts.muted}>{t.noLogLines}</p>
      )}
      <Links ban={ban} />
      {(place || network) && (
        <p className={parts.help}>
          {t.credit}{' '}
          <a href="https://db-ip.com" target="_blank" rel="noreferrer">
            {t.creditLink}
          </a>
        </p>
      )}
    </>
  )
}
