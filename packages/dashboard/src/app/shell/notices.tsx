import { Suspense, lazy, useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import { IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { optionsQuery, summaryQuery } from '../../api/queries.ts'
import { every } from '../../api/quiet.ts'
import { useMay, useMe } from '../../api/session.ts'
import { licenceQuery } from '../../features/identity/queries.ts'
import type { LookUp } from '../../features/fleet/queries.ts'
import { statusQuery } from '../../features/siem/queries.ts'
import parts from '../../kit/parts.module.css'
import { builtVersion, ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { noticesTexts } from './notices.texts.ts'
import { OwnBan, useOwnBan } from './own-ban.tsx'
import { nameOfNotice, noticesOf } from './weight.ts'
import type { Notice, Situation } from './weight.ts'
import styles from './shell.module.css'

const UnbanDialog = lazy(() => import('../../features/ip/unban-dialog.tsx'))

/** What is not part of a page is asked for when the page has had its turn; forwarding when somebody has stayed on it. */
const later = 1500
const muchLater = 15_000
/** The live feed tells nothing of forwarding. */
const pollSiem = 120_000

const useLater = (pause: number): boolean => {
  const [is, setIs] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIs(true), pause)
    return () => clearTimeout(timer)
  }, [pause])
  return is
}

const useSituation = (): Situation => {
  const due = useLater(later)
  const isSiemDue = useLater(muchLater)
  const isAdmin = useMay('admin').may
  const licence = useQuery({ ...licenceQuery, enabled: due && isAdmin, staleTime: 60 * 60_000 }).data
  const siem = useQuery({
    ...statusQuery,
    enabled: isSiemDue && isAdmin && licence?.features.siem === true,
    staleTime: pollSiem,
    refetchInterval: every(pollSiem),
  })
  return {
    opened: ownAddress,
    base: useQuery({ ...optionsQuery, enabled: due }).data?.base_url,
    licence: isAdmin ? licence : undefined,
    servers: useQuery(summaryQuery).data?.servers,
    // What is shown elsewhere may be of a time when one was an admin, or had a licence.
    siem: isAdmin && licence?.features.siem ? siem.data : undefined,
    version: useMe()?.version,
    built: builtVersion,
  }
}

const place = 'stockade-dismissed'
const readDismissed = (): readonly string[] => {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(place) ?? '[]')
    return Array.isArray(kept) ? kept.filter(name => typeof name === 'string') : []
  } catch {
    return []
  }
}

/** The notice, and the dialog that it opened: the dialog stays until the user closes it, whatever becomes of the notice. */
const Notices = () => {
  const [unbanning, setUnbanning] = useState<LookUp | null>(null)
  return (
    <>
      <Heaviest onUnban={setUnbanning} />
      <Suspense>{unbanning && <UnbanDialog found={unbanning} onClose={() => setUnbanning(null)} />}</Suspense>
    </>
  )
}
export default Notices

/** One line, one at a time, by weight. That one's own address is banned can't be dismissed. */
const Heaviest = ({ onUnban }: { onUnban: (found: LookUp) => void }) => {
  const banned = useOwnBan()
  const situation = useSituation()
  const [dismissed, setDismissed] = useState(readDismissed)
  if (banned) return <OwnBan address={banned} onUnban={onUnban} />
  const notice = noticesOf(situation).find(notice => !dismissed.includes(nameOfNotice(notice)))
  if (!notice) return null
  const dismiss = () => {
    const all = [...dismissed, nameOfNotice(notice)].slice(-20)
    setDismissed(all)
    try {
      sessionStorage.setItem(place, JSON.stringify(all))
    } catch {
      // Then it comes back with the next reload.
    }
  }
  return <Line key={notice.kind} notice={notice} onDismiss={dismiss} />
}

const Line = ({ notice, onDismiss }: { notice: Notice; onDismiss: () => void }) => {
  const t = textsOf(noticesTexts)
  return (
    <div className={styles.line} role="status" data-notice={notice.kind}>
      <p>
        <Said notice={notice} />
      </p>
      <button type="button" className={styles.dismiss} aria-label={t.dismiss} onClick={onDismiss}>
        <IconX size={16} />
      </button>
    </div>
  )
}

const Said = ({ notice }: { notice: Notice }): ReactNode => {
  const t = textsOf(noticesTexts)
  switch (notice.kind) {
    case 'elsewhere':
      return (
        <>
          <bdi>{t.elsewhere(ownAddress)}</bdi> <a href={notice.address}>{notice.address}</a>
        </>
      )
    case 'licence':
      return (
        <>
          {t.licence(number(notice.used), number(notice.limit))} <Link to="/settings/licence">{t.toLicence}</Link>
        </>
      )
    case 'offline':
      return (
        <>
          <bdi>{t.offline(nameOf(notice.servers[0]?.hostname ?? ''), notice.servers.length)}</bdi>{' '}
          <Link to="/servers" search={{ status: 'offline' }}>
            {t.toOffline}
          </Link>
        </>
      )
    case 'siem':
      return (
        <>
          {t.siem(number(notice.waiting))} <Link to="/siem/delivery">{t.toSiem}</Link>
        </>
      )
    case 'version':
      return (
        <>
          {t.version}{' '}
          <button type="button" className={parts.quiet} onClick={() => location.reload()}>
            {t.reload}
          </button>
        </>
      )
  }
}
