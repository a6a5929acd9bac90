import { useState } from 'react'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { meQuery } from '../../api/queries.ts'
import type { Me } from '../../api/queries.ts'
import { useMay, useMe } from '../../api/session.ts'
import { lookUpQuery } from '../../features/fleet/queries.ts'
import type { LookUp } from '../../features/fleet/queries.ts'
import { browserWords } from '../../features/identity/browser-words.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { clockTime } from '../../lib/time.ts'
import { shellTexts } from '../../features/navigation/shell.texts.ts'
import styles from './shell.module.css'

type Address = Me['addresses'][number]
interface Given {
  readonly address: Address
  /** Opens the dialog, which must outlive this notice: it goes as soon as the ban is lifted. */
  readonly onUnban: (found: LookUp) => void
}

/**
 * Says on every page that one of my own addresses is banned: of this session, or of another one, since a phone on mobile
 * data is not at the address that locked its owner out. It can't be dismissed; lifting the ban takes two taps.
 */
export const OwnBan = (props: Given) => <Notice key={props.address.ip} {...props} />

/** The first of my own addresses that is banned. */
export const useOwnBan = (): Address | undefined => {
  // What is banned meanwhile by a message that got lost is seen within a minute.
  useQuery({ ...meQuery, refetchInterval: 60_000 })
  return useMe()?.addresses.find(({ active_bans }) => active_bans.length > 0)
}

const Notice = ({ address, onUnban }: Given) => {
  const t = textsOf(shellTexts)
  const { may } = useMay('write')
  const lookUp = useQuery({ ...lookUpQuery(address.ip), enabled: may })
  const found = lookUp.data
  const [asking, setAsking] = useState(false)
  // Asked once more: of several bans that come together the look-up may know only the first yet.
  const lift = async () => {
    setAsking(true)
    const fresh = (await lookUp.refetch()).data ?? found
    setAsking(false)
    if (fresh) onUnban(fresh)
  }
  const [first, ...others] = address.active_bans
  const where = first ? t.bannedOn(nameOf(first.server), first.jail, others.length) : ''
  const whose = address.current
    ? t.ownAddress
    : t.otherAddress(browserWords(address.user_agent), clockTime(Date.parse(address.last_activity)))
  return (
    <div className={styles.notice} role="alert">
      <span>
        <strong>
          <Link to="/ip/$addr" params={{ addr: address.ip }} search={{}} className={styles.noticeLink}>
            <bdi>{address.ip}</bdi>
          </Link>
          , {whose}, <bdi>{where}</bdi>.
        </strong>{' '}
        {!may && t.ownAsk}
      </span>
      {may && (
        <Button onClick={() => void lift()} disabled={!found} loading={asking}>
          {t.ownUnban}
        </Button>
      )}
    </div>
  )
}
