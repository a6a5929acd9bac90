import { Fragment } from 'react'
import type { ReactNode } from 'react'
import { Link } from '@tanstack/react-router'
import type { LookUp } from '../fleet/queries.ts'
import { useWords } from '../../kit/now.ts'
import { Shape } from '../../kit/state.tsx'
import type { Tone } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { useSayMoment } from '../../kit/time.tsx'
import { nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { duration, exactTime } from '../../lib/time.ts'
import { ReasonText } from '../bans/reason.tsx'
import { banEnds, latestAttack } from './attack.ts'
import type { BanEnd } from './attack.ts'
import { ipTexts } from './ip.texts.ts'
import { kindOf } from './read-address.ts'
import styles from './ip.module.css'

/** The fleet ban of an address that holds on most servers. */
const widestOf = ({ fleet_bans: bans }: LookUp) => bans.toSorted((a, b) => b.servers - a.servers)[0]

/** So many ends are told one by one; of more, the first and the last. */
const mostEnds = 3
/** `Banned on 10 servers: 9 until tomorrow 08:31, git-01 until 2 Dec 16:16`. */
const sayEnds = (ends: readonly BanEnd[], say: (at: number) => string): string => {
  const t = textsOf(ipTexts)
  const on = t.bannedOn(ends.reduce((sum, { servers }) => sum + servers.length, 0))
  const until = (where: string, { end }: BanEnd) =>
    end === Infinity ? t.partForGood(where) : t.bannedUntil(where, say(end))
  const [first, last] = [ends[0], ends.at(-1)]
  if (first && first === last) return first.end === Infinity ? t.untilUnbanned(on) : until(on, first)
  if (ends.length > mostEnds && first && last)
    return t.endsBetween(on, say(first.end), last.end === Infinity ? null : say(last.end))
  const whereOf = ({ servers }: BanEnd) => (servers.length === 1 ? nameOf(servers[0] ?? '') : number(servers.length))
  return t.bannedParts(on, ends.map(end => until(whereOf(end), end)).join(', '))
}

/** Its tone, its words, and the moment that they name. */
type Sentence = readonly [Tone, words: string, at?: number]
const sentenceOf = (found: LookUp, say: (at: number) => string): Sentence => {
  const t = textsOf(ipTexts)
  const fleetBan = widestOf(found)
  if (fleetBan) {
    const on = t.fleetBanned(fleetBan.servers)
    if (fleetBan.expires_at === null) return ['ban', t.untilUnbanned(on)]
    const end = Date.parse(fleetBan.expires_at)
    return ['ban', t.bannedUntil(on, say(end)), end]
  }
  const ends = banEnds(found.active_bans)
  if (ends.length > 0) return ['ban', sayEnds(ends, say)]
  const dropping = found.blocklists.filter(({ mode }) => mode === 'enforce').map(({ servers }) => servers)
  if (Math.max(0, ...dropping) > 0) return ['ban', t.listDropped(Math.max(...dropping))]
  if (found.matched_whitelist) return ['allow', t.whitelisted(found.matched_whitelist.ip)]
  const [newest] = found.ban_history
  const over = newest?.unbanned_at ?? newest?.expires_at ?? null
  if (over !== null) return ['neutral', t.notBannedSince(say(Date.parse(over))), Date.parse(over)]
  return ['neutral', newest ? t.notBanned : t.neverBanned]
}

/** Puts things where a sentence has their signs. */
const filled = (sentence: string, things: Readonly<Record<string, ReactNode>>): ReactNode =>
  sentence
    .split(/(\{\w+\})/)
    .map((part, index) => <Fragment key={index}>{/^\{\w+\}$/.test(part) ? things[part.slice(1, -1)] : part}</Fragment>)

/** Why it is banned: how the latest attack began, what followed, and what was before. */
const Why = ({ found, brief }: { found: LookUp; brief: boolean }) => {
  const t = textsOf(ipTexts)
  const attack = latestAttack(found.ban_history, found.total_bans)
  const first = attack?.bans[0]
  const say = useSayMoment()
  const time = useWords(now => (first ? say(Date.parse(first.banned_at), now) : ''))
  if (!attack || !first) return <>{found.matched_whitelist?.description}</>
  const { furtherAttempts, furtherServers, before, bans } = attack
  const length = duration(Math.max(60, Math.round((attack.to - attack.from) / 1000)))
  const further =
    bans.length < 2
      ? ''
      : furtherServers === 0
        ? t.thenBans(number(bans.length - 1), bans.length - 1)
        : furtherAttempts > 0
          ? t.thenAttempts(number(furtherAttempts), furtherAttempts, furtherServers, length)
          : t.thenServers(furtherServers, length)
  return (
    <>
      {filled(t.began('{reason}', '{server}', time), {
        reason: <ReasonText reason={first.reason} strong />,
        server: brief ? (
          <Stranger text={first.server} most={60} />
        ) : (
          <Link to="/servers/$serverId" params={{ serverId: first.server_id }}>
            <Stranger text={first.server} most={60} />
          </Link>
        ),
      })}
      {further}
      {'. '}
      {!brief && before > 0 && t.before(number(before), before)}
    </>
  )
}

/** The fleet bans that cover it, each with its reason and the way to it. */
const FleetBans = ({ found, brief }: { found: LookUp; brief: boolean }) => {
  const t = textsOf(ipTexts)
  return found.fleet_bans.map(({ id, entry, reason, created_by: author }) => (
    <Fragment key={id}>
      {brief ? (
        t.fleetBanOf(entry, author)
      ) : (
        <Link to="/fleet-bans" search={{ search: entry }}>
          <Stranger text={t.fleetBanOf(entry, author)} most={120} />
        </Link>
      )}
      {reason && (
        <>
          {': '}
          <Stranger text={reason} most={200} />
        </>
      )}
      {'. '}
    </Fragment>
  ))
}

/** The blocklists that name it, with what they do. */
const Lists = ({ found, brief }: { found: LookUp; brief: boolean }) => {
  const t = textsOf(ipTexts)
  const say = useSayMoment()
  const times = useWords(now =>
    found.blocklists.map(({ fetched_at: at }) => (at === null ? '' : say(Date.parse(at), now))).join('\n'),
  ).split('\n')
  return found.blocklists.map(({ id, name, mode, entry }, index) => {
    const sentence = t.onList[mode === 'enforce' ? 'enforce' : 'observe']('{name}', entry, times[index] ?? '')
    const nameText = <Stranger text={name} most={60} />
    return (
      <Fragment key={id}>
        {filled(sentence, { name: brief ? nameText : <Link to="/lists/blocklists">{nameText}</Link> })}
      </Fragment>
    )
  })
}

/** The state of an address in one sentence, and the reason below it. */
export const Answer = ({ found, brief = false }: { found: LookUp; brief?: boolean }) => {
  const t = textsOf(ipTexts)
  const kind = kindOf(found.ip)
  const say = useSayMoment()
  const words = useWords(now => sentenceOf(found, at => say(at, now))[1])
  const [tone, , at] = sentenceOf(found, String)
  return (
    <div className={styles.answer} data-brief={brief || undefined}>
      <p className={styles.sentence} data-tone={tone}>
        <Shape tone={tone} />
        {at === undefined ? <span>{words}</span> : <span title={exactTime(at)}>{words}</span>}
      </p>
      <p className={styles.why}>
        {found.is_you && <b>{t.isYou} </b>}
        {found.is_server && (
          <b>
            <bdi>{t.isServer(nameOf(found.is_server.hostname))}</bdi>{' '}
          </b>
        )}
        <FleetBans found={found} brief={brief} />
        <Lists found={found} brief={brief} />
        <Why found={found} brief={brief} />
        {kind && ` ${t.kinds[kind]}`}
      </p>
    </div>
  )
}
