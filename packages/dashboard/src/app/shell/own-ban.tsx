import { lazy, useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { meQuery, queries } from '../../api/queries.ts'
import type { Me } from '../../api/queries.ts'
import { useMay, useMe } from '../../api/session.ts'
import { lookUpQuery } from '../../features/fleet/queries.ts'
import type { LookUp } from '../../features/fleet/queries.ts'
import { browserWords } from '../../features/identity/browser-words.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Shape } from '../../kit/state.tsx'
import { TimeSentence } from '../../kit/time.tsx'
import { toasts } from '../../kit/toasts.ts'
import { Refusal } from '../../kit/trouble.tsx'
import { nameOf } from '../../lib/clip.ts'
import { dayTime } from '../../lib/time.ts'
import { shellTexts } from '../../features/navigation/shell.texts.ts'
import receipt from '../../kit/receipt.module.css'
import styles from './own-ban.module.css'

const UnbanDialog = lazy(() => import('../../features/ip/unban-dialog.tsx'))

type Address = Me['addresses'][number]

/**
 * Says on every page that one of my own addresses is banned: of this session, or of another one, since a phone on mobile
 * data is not at the address that locked its owner out. It can't be dismissed; lifting the ban takes two taps. The
 * dialog outlives the card, which goes as soon as the ban is lifted.
 */
export const OwnBan = () => {
  const [unbanning, setUnbanning] = useState<LookUp | null>(null)
  const banned = useOwnBan()
  return (
    <>
      {banned && <Card key={banned.ip} address={banned} onUnban={setUnbanning} />}
      <Dialogs>{unbanning && <UnbanDialog found={unbanning} onClose={() => setUnbanning(null)} />}</Dialogs>
    </>
  )
}

/** The first of my own addresses that is banned. */
const useOwnBan = (): Address | undefined => {
  // What is banned meanwhile by a message that got lost is seen within a minute.
  useQuery({ ...meQuery, refetchInterval: 60_000 })
  return useMe()?.addresses.find(({ active_bans }) => active_bans.length > 0)
}

const useUnban = (address: Address, onUnban: (found: LookUp) => void) => {
  const { may } = useMay('write')
  const lookUp = useQuery({ ...lookUpQuery(address.ip), enabled: may })
  const lookUpResult = lookUp.data
  const [asking, setAsking] = useState(false)
  // Asked once more: of several bans that come together the look-up may know only the first yet.
  const lift = async () => {
    setAsking(true)
    const fresh = (await lookUp.refetch()).data ?? lookUpResult
    setAsking(false)
    if (fresh) onUnban(fresh)
  }
  return { may, canLift: lookUpResult !== undefined, asking, lift }
}

/** For those who may lift nothing else: the ban of the address that they come from, where that is allowed. */
const useLift = (address: Address) => {
  const t = textsOf(shellTexts)
  const { may } = useMay('write')
  const isOffered = useMe()?.own_unban === true && address.current && !may
  const lift = useMutation({
    mutationFn: async () => {
      const { expires_at } = await api.call('POST /bans/own-unban')
      toasts.show({ text: t.ownLifted(dayTime(Date.parse(expires_at), Date.now())) })
      await queries.invalidateQueries({ queryKey: meQuery.queryKey })
    },
  })
  return { isOffered, lift }
}

const Card = ({ address, onUnban }: { address: Address; onUnban: (found: LookUp) => void }) => {
  const t = textsOf(shellTexts)
  const { may, canLift, asking, lift } = useUnban(address, onUnban)
  const own = useLift(address)
  const [first, ...others] = address.active_bans
  const servers = new Set(address.active_bans.map(({ server_id }) => server_id)).size
  const where = first ? t.bannedOn(nameOf(first.server), first.jail, others.length) : ''
  const device = (time: string) => t.device(browserWords(address.user_agent), time)
  return (
    <div className={styles.card} role="alert">
      <span className={receipt.node} data-tone="danger">
        <Shape tone="danger" />
      </span>
      <div className={styles.words}>
        <p className={styles.sentence}>{address.current ? t.ownBanned(servers) : t.otherBanned(servers)}</p>
        <p className={styles.evidence}>
          {!address.current && (
            <>
              <TimeSentence at={address.last_activity} say={device} />,{' '}
            </>
          )}
          <bdi>{address.ip}</bdi>. <bdi>{where}</bdi>. {!may && !own.isOffered && t.ownAsk}
        </p>
        <Refusal error={own.lift.error} />
      </div>
      <div className={styles.acts}>
        <Link to="/ip/$addr" params={{ addr: address.ip }} search={{}} className={styles.details}>
          {t.ownDetails}
        </Link>
        {may && (
          <Button onClick={() => void lift()} disabled={!canLift} loading={asking}>
            {t.ownUnban}
          </Button>
        )}
        {own.isOffered && (
          <Button onClick={() => own.lift.mutate()} loading={own.lift.isPending}>
            {t.ownLift}
          </Button>
        )}
      </div>
    </div>
  )
}
