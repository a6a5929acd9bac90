import { useMemo, useState } from 'react'
import { Link, useNavigate } from '@tanstack/react-router'
import type { LookUp } from '../fleet/queries.ts'
import type { Ban } from '../../api/queries.ts'
import { Lanes } from '../../kit/charts/lanes.tsx'
import type { Lane, Span } from '../../kit/charts/lanes.tsx'
import { attackScale, linear } from '../../kit/charts/lane-scale.ts'
import type { Scale } from '../../kit/charts/lane-scale.ts'
import { useWords } from '../../kit/now.ts'
import { Panel } from '../../kit/page.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { useSayMoment } from '../../kit/time.tsx'
import type { SayMoment } from '../../kit/time.tsx'
import { usePhone } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { clockTime, dayTime, shortDay } from '../../lib/time.ts'
import { latestAttack } from './attack.ts'
import type { Line } from './attack.ts'
import { ipTexts } from './ip.texts.ts'
import { attemptsOf } from './log-lines.ts'
import styles from './ip.module.css'

const day = 86_400_000
type Range = 'attack' | 'week' | 'all'

const spanOf = (line: Line, now: number, say: SayMoment = dayTime): Span => {
  const t = textsOf(ipTexts)
  const from = Date.parse(line.banned_at)
  const end = line.unbanned_at ?? line.expires_at
  const to = end === null ? (line.active ? Infinity : from) : Date.parse(end)
  const until = to === Infinity ? t.forGood : say(to, now)
  return {
    id: line.id,
    from,
    to: Math.max(from, to),
    over: !line.active,
    text: t.span(line.jail, say(from, now), until),
  }
}

/** One lane a server, those of the latest bans first, in the order in which they were attacked. */
const lanesOf = (found: LookUp, bans: readonly Ban[], now: number, say: SayMoment): readonly Lane[] => {
  const byServer = new Map<string, Line[]>()
  for (const line of found.ban_history) byServer.set(line.server_id, [...(byServer.get(line.server_id) ?? []), line])
  const linesOf = new Map(bans.map(ban => [ban.id, ban.log_lines]))
  const attack = latestAttack(found.ban_history, found.total_bans)
  const begun = new Map(attack?.bans.toReversed().map((line, index) => [line.server_id, -index]))
  const inOrder = [...byServer].sort(([a], [b]) => (begun.get(a) ?? 1) - (begun.get(b) ?? 1))
  return inOrder.map(([id, lines]) => {
    const [newest] = lines
    const spans = lines.map(line => spanOf(line, now, say))
    return {
      key: id,
      name: (
        <Link to="/servers/$serverId" params={{ serverId: id }}>
          <Stranger text={nameOf(newest?.server ?? '')} most={40} />
        </Link>
      ),
      about: <Stranger text={newest?.jail ?? ''} most={40} />,
      words: spans
        .slice(0, 5)
        .map(({ text }) => text)
        .join('; '),
      spans,
      marks: lines.flatMap(line => attemptsOf(linesOf.get(line.id) ?? '', Date.parse(line.banned_at))),
    }
  })
}

const scaleOf = (range: Range, found: LookUp, now: number): Scale => {
  const spans = found.ban_history.map(line => spanOf(line, now))
  const ends = spans.map(({ to }) => (to === Infinity ? now + day : to))
  const last = Math.max(now, ...ends)
  const oldest = Math.min(now, ...spans.map(({ from }) => from))
  const attack = latestAttack(found.ban_history, found.total_bans)
  if (range === 'attack' && attack) return attackScale(attack, now, Math.max(last, now))
  const from = range === 'week' ? now - 7 * day : oldest
  return linear(from, Math.max(now, Math.min(last, now + (now - from) / 4)))
}

/** Moments to name: the ends of the parts, and round ones between. */
const ticksOf = (scale: Scale, now: number): readonly (readonly [number, string])[] => {
  const inPart = scale.parts.flatMap(({ from, to, start, end }) => {
    const count = Math.max(1, Math.round((end - start) * 6))
    return Array.from({ length: count }, (_, index) => from + ((to - from) * index) / count)
  })
  const isShort = (scale.parts.find(part => part.start > 0 && part.end < 1)?.to ?? scale.to) - now < day
  return [...inPart, scale.to].map((moment, index, all) => {
    const words =
      index === all.length - 1 && moment > now
        ? dayTime(moment, now)
        : Math.abs(now - moment) < day && isShort
          ? clockTime(moment)
          : shortDay(moment, now)
    return [moment, words] as const
  })
}

/** When each server was attacked, how long the address was banned there, and how long it still is. */
export const Timeline = ({ found, bans }: { found: LookUp; bans: readonly Ban[] }) => {
  const t = textsOf(ipTexts)
  const phone = usePhone()
  const navigate = useNavigate()
  const [range, setRange] = useState<Range>('attack')
  // Ten seconds are enough for a picture; the clock of a server may be ahead of this one.
  const minute = useWords(moment => Math.floor(moment / 10_000) * 10_000)
  const now = Math.max(minute, ...found.ban_history.slice(0, 20).map(({ banned_at }) => Date.parse(banned_at)))
  const say = useSayMoment()
  const lanes = useMemo(() => lanesOf(found, bans, now, say), [found, bans, now, say])
  const scale = useMemo(() => scaleOf(range, found, now), [range, found, now])
  const ticks = useMemo(() => ticksOf(scale, now), [scale, now])
  if (found.ban_history.length === 0) return null
  const title = phone ? t.byServer : t.timeline
  return (
    <Panel
      title={title}
      aside={
        <>
          {!phone && (
            <span className={styles.legend} aria-hidden="true">
              <span data-kind="mark">{t.legend.attempt}</span>
              <span data-kind="held">{t.legend.banned}</span>
              <span data-kind="rest">{t.legend.rest}</span>
              <span data-kind="over">{t.legend.over}</span>
            </span>
          )}
          <Segmented
            label={t.timeline}
            value={range}
            options={(['attack', 'week', 'all'] as const).map(value => ({ value, text: t.ranges[value] }))}
            onChange={setRange}
          />
        </>
      }
    >
      <Lanes
        label={t.timelineOf(found.ip, lanes.length)}
        lanes={lanes}
        most={phone ? 7 : 12}
        room={phone ? 0.19 : 0.09}
        scale={scale}
        now={now}
        nowText={clockTime(now)}
        ticks={ticks}
        more={t.moreServers}
        onOpen={id =>
          void navigate({ to: '/bans/$banId', params: { banId: String(id) }, search: { ip: found.ip, by: 'bans' } })
        }
      />
      <p className={styles.foot}>
        {found.total_bans > found.ban_history.length && `${t.timelineShown(found.ban_history.length)} `}
        <Link to="/bans" search={{ ip: found.ip, by: 'bans' }}>
          {t.allBans(found.total_bans)}
        </Link>
      </p>
    </Panel>
  )
}
