import { Link } from '@tanstack/react-router'
import { useMe } from '../../api/session.ts'
import parts from '../../kit/parts.module.css'
import { Stranger } from '../../kit/stranger.tsx'
import { Ends } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { exactTime } from '../../lib/time.ts'
import { portknockTexts } from './portknock.texts.ts'
import styles from './portknock.module.css'

/* What several of these pages show in the same way. */

/** An address, as the way to all that is known of it. */
export const Address = ({ ip }: { ip: string }) => {
  const mine = useMe()?.ip_address === ip
  return (
    <span className={styles.address}>
      <Link to="/ip/$addr" params={{ addr: ip }} className={parts.link}>
        {ip}
      </Link>
      {mine && <span className={styles.you}>{textsOf(portknockTexts).you}</span>}
    </span>
  )
}

export const ServerLink = ({ id, hostname }: { id: string; hostname: string }) => (
  <Link to="/servers/$serverId" params={{ serverId: id }} className={parts.link}>
    <Stranger text={hostname} most={60} />
  </Link>
)

/** What is left until then, ticking. */
export const Left = ({ until }: { until: string }) => (
  <Ends ban={{ active: true, banned_at: until, ban_duration: null, expires_at: until, unbanned_at: null }} />
)

/** `2026-11-20 14:04:12`, with the zones on hover. */
export const At = ({ at }: { at: string }) => {
  const exact = exactTime(Date.parse(at))
  return (
    <time dateTime={at} title={exact} className={styles.at}>
      {exact.slice(0, 19)}
    </time>
  )
}

/** Knock ports in their order. */
export const Order = ({ ports, label }: { ports: readonly number[]; label: string }) => (
  <ol className={styles.order} aria-label={label} dir="ltr">
    {ports.map((port, index) => (
      <li key={index}>
        {index > 0 && (
          <span aria-hidden="true" className={styles.arrow}>
            →
          </span>
        )}
        <span className={styles.chip}>{port}</span>
      </li>
    ))}
  </ol>
)
