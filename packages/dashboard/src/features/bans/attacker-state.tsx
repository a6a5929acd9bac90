import { useWords } from '../../kit/now.ts'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Ends, useExact } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { ago, exactTime, shortDay } from '../../lib/time.ts'
import type { Attacker } from './attackers-list.ts'
import { attackersTexts } from './attackers.texts.ts'
import styles from './attackers.module.css'

const day = 86_400_000

/** When it was banned last: how long ago on the same day, else the date. */
export const LastSeen = ({ attacker }: { attacker: Attacker }) => {
  const at = Date.parse(attacker.last_banned_at)
  const exact = useExact()
  return (
    <time dateTime={attacker.last_banned_at}>
      {useWords(now => (exact ? exactTime(at) : now - at < day ? ago(at, now) : shortDay(at, now)))}
    </time>
  )
}

/** How long it stays banned, who unbanned it, or what the whitelist calls it. */
const Until = ({ attacker }: { attacker: Attacker }) => {
  const t = textsOf(attackersTexts)
  const { state, expires_at, permanent, last_banned_at, active_servers: servers } = attacker
  if (state === 'banned')
    return (
      <Ends
        ban={{
          active: true,
          banned_at: last_banned_at,
          ban_duration: permanent ? -1 : null,
          expires_at,
          unbanned_at: null,
        }}
        // On others of its servers it may end earlier.
        {...(servers > 1 ? { phrase: t.atMost } : {})}
      />
    )
  if (state === 'unbanned' && attacker.unbanned_by !== null)
    return <Stranger text={t.by(attacker.unbanned_by)} most={60} />
  if (state === 'whitelisted' && attacker.whitelist_description)
    return <Stranger text={attacker.whitelist_description} most={80} />
  return null
}

export const AttackerState = ({ attacker, part }: { attacker: Attacker; part?: 'state' | 'until' }) => (
  <>
    {part !== 'until' && <State is={attacker.state} />}
    {part !== 'state' && (
      <span className={styles.until}>
        <Until attacker={attacker} />
      </span>
    )}
  </>
)
