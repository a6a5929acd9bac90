import { Fragment, useEffect, useState } from 'react'
import { Button } from '@mantine/core'
import { IconCopy, IconDots, IconExternalLink, IconFlag, IconKey, IconList } from '@tabler/icons-react'
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Ban } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { lookUpQuery } from '../fleet/queries.ts'
import type { LookUp } from '../fleet/queries.ts'
import { announce } from '../../kit/announce.tsx'
import { Later } from '../../kit/charts/later.tsx'
import { Flag } from '../../kit/flag.tsx'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Value, copyValue } from '../../kit/search/value-menu.tsx'
import type { Act } from '../../kit/search/value-menu.tsx'
import { toasts } from '../../kit/toasts.ts'
import { Trouble, hasAnswered, sentenceOf } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { usePhone } from '../../kit/width.ts'
import { addRecent } from '../../lib/recent.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { AddressDialogs } from './address-dialogs.tsx'
import type { AddressDialog } from './address-dialogs.tsx'
import { Answer } from './answer.tsx'
import { About, Reputation } from './aside.tsx'
import { Evidence } from './evidence.tsx'
import { ipTexts } from './ip.texts.ts'
import { LookUpField, problemOf } from './lookup.tsx'
import { findAddress } from './read-address.ts'
import { Timeline } from './timeline.tsx'
import styles from './ip.module.css'

/** What is beside the answer travels after it. */
const loadNeighbours = () => import('./neighbour-map.tsx').then(({ Neighbours }) => Neighbours)
const loadKnocks = () => import('./knocks.tsx').then(({ Knocks }) => Knocks)
const loadDone = () => import('./done.tsx').then(({ Done }) => Done)

/** Everything about one address, and what can be done about it. */
export const IpPage = () => {
  const { addr } = useParams({ from: '/inside/ip/$addr' })
  const address = findAddress(addr)
  return address ? <Known key={address.ip} ip={address.ip} /> : <Wrong typed={addr} />
}

const Wrong = ({ typed }: { typed: string }) => (
  <Page title={textsOf(ipTexts).title}>
    <LookUpField key={typed} given={typed} error={problemOf(typed)} />
  </Page>
)

/**
 * The newest bans with their log lines, in one request: evidence, and when the attempts were made. The reply is kept whole,
 * since live messages patch all lists under this key.
 */
const evidenceQuery = (ip: string) =>
  queryOptions({
    queryKey: ['bans', 'evidence', ip],
    queryFn: ({ signal }) => api.call('GET /bans', { query: { ip, limit: 25 }, signal }),
  })
const noBans: readonly Ban[] = []

const useEvidence = (ip: string) => {
  const evidence = useQuery(evidenceQuery(ip))
  return { evidence, bans: evidence.data?.bans ?? noBans, isAnswered: hasAnswered(evidence) }
}

/** Says that the address was taken out of a longer text. */
const Taken = ({ ip }: { ip: string }) => {
  const { taken } = useSearch({ from: '/inside/ip/$addr' })
  if (taken !== '1') return null
  return (
    <p className={parts.note} role="status">
      {textsOf(ipTexts).took(ip)}
    </p>
  )
}

const Known = ({ ip }: { ip: string }) => {
  const t = textsOf(ipTexts)
  const { may } = useMay('write')
  const phone = usePhone()
  const [knocks, askKnocks] = useState(false)
  useEffect(() => addRecent(ip), [ip])
  const query = useQuery(lookUpQuery(ip))
  const lookUp = query.data
  const { evidence, bans, isAnswered } = useEvidence(lookUp?.ip ?? ip)
  const isWaiting = query.isPending || (lookUp !== undefined && !isAnswered)
  return (
    <Page
      title={ip}
      above={phone ? undefined : <Link to="/ip">{t.addresses}</Link>}
      heading={<bdi className={styles.address}>{lookUp?.ip ?? ip}</bdi>}
      range={<BesideAddress ip={ip} found={lookUp} isPhone={phone} />}
      tools={<Top ip={ip} found={lookUp} isPhone={phone} />}
      actions={
        may && (!phone || hasAnswered(query)) && <Acts ip={ip} found={lookUp} onKnocks={() => askKnocks(true)} />
      }
    >
      <Taken ip={ip} />
      <Trouble what={t.what} query={query} />
      {isWaiting && <Waiting />}
      {/* All at once: what comes later would move what is read. */}
      {lookUp && !isWaiting && <Columns found={lookUp} bans={bans} evidence={evidence} knocks={knocks} />}
    </Page>
  )
}

const Top = ({ ip, found, isPhone }: { ip: string; found: LookUp | undefined; isPhone: boolean }) => (
  <>
    {isPhone && <WholeAddress ip={found?.ip ?? ip} country={found?.country ?? null} />}
    {found ? <Answer found={found} /> : <span className={styles.answer} />}
  </>
)

/** The bar of a phone has no room for it: it is read and copied here, and breaks between its groups. */
const WholeAddress = ({ ip, country }: { ip: string; country: string | null }) => (
  <button
    type="button"
    className={styles.whole}
    aria-label={`${textsOf(ipTexts).copy}: ${ip}`}
    onClick={() => void copyValue(ip)}
  >
    <bdi dir="ltr">
      {ip.split(/(?<=[:.])/).map((part, index) => (
        <Fragment key={index}>
          {part}
          <wbr />
        </Fragment>
      ))}
    </bdi>
    <IconCopy size={16} />
    {country !== null && <Flag code={country} />}
  </button>
)

const BesideAddress = ({ ip, found, isPhone }: { ip: string; found: LookUp | undefined; isPhone: boolean }) => (
  <>
    {!isPhone && (
      <button
        type="button"
        className={parts.icon}
        aria-label={textsOf(ipTexts).copy}
        onClick={() => void copyValue(ip)}
      >
        <IconCopy size={16} />
      </button>
    )}
    {found && !isPhone && <Flag code={found.country} />}
  </>
)

const Columns = (props: {
  found: LookUp
  bans: readonly Ban[]
  evidence: ReturnType<typeof useEvidence>['evidence']
  knocks: boolean
}) => {
  const { found, bans, evidence, knocks } = props
  const t = textsOf(ipTexts)
  const { may } = useMay('admin')
  return (
    <div className={styles.columns}>
      <div className={styles.column}>
        <Timeline found={found} bans={bans} />
        <Trouble what={t.whatEvidence} query={evidence} />
        <Evidence bans={bans} />
      </div>
      <aside className={styles.column} aria-label={t.about}>
        <Reputation found={found} />
        <About found={found} />
        <Later load={loadNeighbours} given={{ ip: found.ip }} />
      </aside>
      <div className={styles.column}>
        {may && <Later load={loadDone} given={{ ip: found.ip }} />}
        {knocks && <Later load={loadKnocks} given={{ ip: found.ip }} />}
      </div>
    </div>
  )
}

const elsewhere = [
  ['AbuseIPDB', (ip: string) => `https://www.abuseipdb.com/check/${ip}`],
  ['Shodan', (ip: string) => `https://www.shodan.io/host/${ip}`],
  ['RIPEstat', (ip: string) => `https://stat.ripe.net/${ip}`],
] as const

/** Tells the reputation database of its newest ban, and says what it answered. */
const useReport = (found: LookUp | undefined) => {
  const t = textsOf(ipTexts)
  return useMutation({
    mutationFn: (banId: number) => api.call('POST /bans/{banId}/report', { params: { banId } }),
    onSuccess: ({ message }) => {
      announce(t.reported)
      toasts.show({ text: message })
      void queries.invalidateQueries({ queryKey: ['lookup', found?.ip] })
    },
    onError: error => toasts.show({ text: sentenceOf(error), error: true }),
  })
}

const Acts = (props: { ip: string; found: LookUp | undefined; onKnocks: () => void }) => {
  const { ip, found, onKnocks } = props
  const t = textsOf(ipTexts)
  const [dialog, setDialog] = useState<AddressDialog | null>(null)
  const phone = usePhone()
  const banned = (found?.active_bans.length ?? 0) > 0
  return (
    <>
      {(banned || !phone) && (
        <Button variant={banned ? 'filled' : 'default'} disabled={!found} onClick={() => setDialog('unban')}>
          {t.unban}
        </Button>
      )}
      <Button variant="default" onClick={() => setDialog('whitelist')}>
        {t.whitelist}
      </Button>
      {(!banned || !phone) && (
        <Button variant="default" onClick={() => setDialog('ban')}>
          {banned ? t.change : t.ban}
        </Button>
      )}
      <More ip={ip} found={found} banned={banned} onAsk={setDialog} onKnocks={onKnocks} />
      <AddressDialogs ip={ip} found={found} dialog={dialog} onClose={() => setDialog(null)} />
    </>
  )
}

/** What is done less often; on phones also what the bar has no room for. */
const More = (props: {
  ip: string
  found: LookUp | undefined
  banned: boolean
  onAsk: (asked: AddressDialog) => void
  onKnocks: () => void
}) => {
  const { ip, found, banned, onAsk, onKnocks } = props
  const t = textsOf(ipTexts)
  const navigate = useNavigate()
  const phone = usePhone()
  const report = useReport(found)
  const newest = found?.ban_history[0]
  const other = banned ? { text: t.change, act: () => onAsk('ban') } : { text: t.unban, act: () => onAsk('unban') }
  const more: readonly Act[] = [
    ...(phone ? [other] : []),
    ...(newest ? [{ text: t.report, icon: <IconFlag size={16} />, act: () => report.mutate(newest.id) }] : []),
    {
      text: t.singleBans,
      icon: <IconList size={16} />,
      act: () => void navigate({ to: '/bans', search: { ip, by: 'bans' } }),
    },
    { text: t.knocks, icon: <IconKey size={16} />, act: onKnocks },
    ...elsewhere.map(([name, at]) => ({
      text: t.openIn(name),
      icon: <IconExternalLink size={16} />,
      act: () => void open(at(ip), '_blank', 'noreferrer'),
    })),
  ]
  return (
    <span className={styles.menu}>
      <Value
        acts={{ value: ip, more }}
        label={t.more}
        className={`${parts.icon ?? ''} ${parts.edged ?? ''} ${styles.dots ?? ''}`}
      >
        <IconDots size={16} />
      </Value>
    </span>
  )
}
