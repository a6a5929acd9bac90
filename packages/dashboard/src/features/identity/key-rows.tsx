import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { summaryQuery } from '../../api/queries.ts'
import { useWords } from '../../kit/now.ts'
import parts from '../../kit/parts.module.css'
import { PlainTable, headsOf } from '../../kit/plain-table.tsx'
import { SmallButton } from '../../kit/small-button.tsx'
import { Mark, State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { DatedTime, Time } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { shortDate } from '../../lib/time.ts'
import { identityTexts } from './identity.texts.ts'
import { limitsTexts } from './limits.texts.ts'
import type { Key } from './queries.ts'
import styles from './identity.module.css'

const day = 86_400_000

/** The limits of a key beside its permission, in one line. */
const Limited = ({ of }: { of: Key }) => {
  const t = textsOf(limitsTexts)
  return (
    <small>
      {of.scopes === null ? t.all : of.scopes.map(scope => t.scopes[scope]).join(', ')}
      {of.source_networks !== null && ` · ${t.from(of.source_networks.join(', '))}`}
    </small>
  )
}

const Servers = ({ of: { server_id: id, tags } }: { of: Pick<Key, 'server_id' | 'tags'> }) => {
  const t = textsOf(identityTexts).keys
  const server = useQuery({ ...summaryQuery, enabled: id !== null }).data?.servers.find(known => known.id === id)
  if (id === null && tags === null) return <>{t.allServers}</>
  const one = id === null ? [] : [t.oneServer(server ? nameOf(server.hostname) : id)]
  return <>{[...one, ...(tags ?? [])].join(', ')}</>
}
const Expiry = ({ at }: { at: string | null }) => {
  const t = textsOf(identityTexts).keys
  const date = at === null ? null : Date.parse(at)
  const left = useWords(now =>
    date === null ? 'never' : date <= now ? 'over' : date - now < 7 * day ? 'soon' : 'later',
  )
  const words = useWords(now => (date === null ? '' : shortDate(date, now)))
  if (at === null) return <>{t.never}</>
  if (left === 'over') return <State is="expired" />
  if (left === 'soon') return <Mark tone="warn">{`${words} · ${t.soon}`}</Mark>
  return <DatedTime at={at} />
}

/** When and from where it was used last. */
const Used = ({ of }: { of: Key }) => {
  const t = textsOf(identityTexts)
  if (of.last_used === null) return <>{t.keys.unused}</>
  return (
    <>
      <Time at={of.last_used} />
      {of.last_used_from !== null && (
        <>
          {' '}
          {t.sessions.from}{' '}
          <Link to="/ip/$addr" params={{ addr: of.last_used_from }} className={parts.mono}>
            {of.last_used_from}
          </Link>
        </>
      )}
    </>
  )
}

/** Those that end within a week, said above the list: afterwards what uses them stands still. */
export const EndingSoon = ({ rows }: { rows: readonly Key[] }) => {
  const t = textsOf(identityTexts).keys
  const ending = useWords(now =>
    rows
      .filter(({ expires_at }) => {
        const left = expires_at === null ? 0 : Date.parse(expires_at) - now
        return left > 0 && left < 7 * day
      })
      .map(({ name }) => nameOf(name))
      .join(', '),
  )
  return ending === '' ? null : <p className={parts.warn}>{t.endingSoon(ending)}</p>
}

interface Rows {
  readonly rows: readonly Key[]
  readonly onRevoke: (key: Key) => void
}
const Revoke = ({ of, onRevoke }: { of: Key; onRevoke: (key: Key) => void }) => {
  const t = textsOf(identityTexts).keys
  return (
    <SmallButton aria-label={t.revokeOf(nameOf(of.name))} onClick={() => onRevoke(of)}>
      {t.revoke}
    </SmallButton>
  )
}
export const KeyTable = ({ rows, onRevoke }: Rows) => {
  const t = textsOf(identityTexts)
  const { act, ...columns } = t.keys.columns
  return (
    <PlainTable
      caption={t.keys.caption}
      heads={[
        ...headsOf(columns),
        { key: 'act', text: <span className={parts.hidden}>{act}</span>, className: parts.last },
      ]}
      frame={parts.frame}
    >
      {rows.map(key => (
        <tr key={key.id}>
          <td className={styles.names}>
            <strong>
              <Stranger text={key.name} most={60} />
            </strong>
          </td>
          <td className={parts.mono}>{key.prefix}…</td>
          <td>
            {t.permissions[key.permissions]} <Limited of={key} />
          </td>
          <td>
            <Servers of={key} />
          </td>
          <td>
            <Expiry at={key.expires_at} />
          </td>
          <td>
            <Used of={key} />
          </td>
          <td>
            <Time at={key.created_at} />
          </td>
          <td className={parts.last}>
            <Revoke of={key} onRevoke={onRevoke} />
          </td>
        </tr>
      ))}
    </PlainTable>
  )
}
export const KeyCards = ({ rows, onRevoke }: Rows) => {
  const t = textsOf(identityTexts)
  return (
    <ul className={parts.cards}>
      {rows.map(key => (
        <li key={key.id} className={parts.card}>
          <div className={parts.cardTop}>
            <strong>
              <Stranger text={key.name} most={60} />
            </strong>
            <span>{t.permissions[key.permissions]}</span>
          </div>
          <div className={parts.facts}>
            <span className={parts.mono}>{key.prefix}…</span>
            <span>
              <Limited of={key} />
            </span>
            <span>
              <Servers of={key} />
            </span>
            <span>
              {t.keys.columns.expires}: <Expiry at={key.expires_at} />
            </span>
            <span>
              {t.keys.columns.used}: <Used of={key} />
            </span>
          </div>
          <Revoke of={key} onRevoke={onRevoke} />
        </li>
      ))}
    </ul>
  )
}
