import { useCallback, useEffect, useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ApiError, api } from '../../api/client.ts'
import { paced, patiently } from '../../api/paced.ts'
import { queries, summaryQuery } from '../../api/queries.ts'
import type { Ban } from '../../api/queries.ts'
import { BatchReceipt } from '../fleet/receipts.tsx'
import { useMe } from '../../api/session.ts'
import { banManyOnFleet } from './ban-on-fleet.ts'
import { CancelButton } from '../../kit/dialog-buttons.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { Refusal, sentenceOf } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { bansTexts } from './bans.texts.ts'
import { addressesOf, asFile, unbanTargets } from './bulk-rows.ts'
import { saveAs } from './save-as.ts'

type What = 'unban' | 'ban' | 'report' | 'export'
interface Given {
  readonly what: What
  readonly bans: readonly Ban[]
  readonly addresses: number
  /** The addresses where they are more than those of the bans: one that is not banned now can be banned. */
  readonly ips?: readonly string[]
  /** It is ordered: what was chosen is no longer as it was. */
  readonly onRun: () => void
  readonly onClose: () => void
}

/** Says what will be done to how many and where, does it, and follows it until each host has answered. */
const BulkDialog = (props: Given) => {
  const t = textsOf(bansTexts).bulk
  const title = {
    unban: t.unbanTitle,
    ban: t.banTitle,
    report: t.reportTitle,
    export: t.exportTitle,
  }[props.what](number(props.addresses), props.addresses)
  return (
    <Dialog title={title} onClose={props.onClose}>
      {props.what === 'unban' && <UnbanMany {...props} />}
      {props.what === 'ban' && <BanMany {...props} />}
      {props.what === 'report' && <ReportMany {...props} />}
      {props.what === 'export' && <ExportChosen {...props} />}
    </Dialog>
  )
}
export default BulkDialog

const never = new AbortController().signal

/** Names those that are away; the first ones, where they are many. */
const Away = ({ servers }: { servers: ReadonlySet<string> }) => {
  const t = textsOf(bansTexts).bulk
  const away = (useQuery(summaryQuery).data?.servers ?? []).filter(
    ({ id, status }) => servers.has(id) && status !== 'online',
  )
  if (away.length === 0) return null
  const names = away.slice(0, 5).map(({ hostname }) => nameOf(hostname))
  return (
    <p className={parts.warn}>
      <bdi>{t.away(names.join(', '), away.length - names.length)}</bdi>
    </p>
  )
}

const UnbanMany = ({ bans, onRun, onClose }: Given) => {
  const t = textsOf(bansTexts).bulk
  const targets = unbanTargets(bans)
  const servers = new Set(targets.map(({ server_id }) => server_id))
  const addresses = addressesOf(targets.map(({ params }) => params)).length
  const over = bans.filter(({ active }) => !active).length
  const unban = useMutation({
    onSuccess: onRun,
    mutationFn: () =>
      patiently(() => api.call('POST /commands/batch', { body: { type: 'unban-ip', targets: [...targets] } }), never),
  })
  if (unban.data) return <Follow batchId={unban.data.batch_id} onClose={onClose} />
  return (
    <div className={parts.form}>
      <p>{t.unbanText(number(targets.length), targets.length)}</p>
      {over > 0 && <p className={parts.muted}>{t.over(number(over), over)}</p>}
      <Away servers={servers} />
      <Refusal error={unban.error} />
      <div className={parts.row}>
        <CancelButton onClick={onClose} focus />
        <Button
          variant="danger"
          loading={unban.isPending}
          disabled={targets.length === 0}
          onClick={() => unban.mutate()}
        >
          {t.unbanOn(number(addresses), addresses, servers.size)}
        </Button>
      </div>
    </div>
  )
}

/** Fleet bans of one request. */
const mostAddresses = 1000
/** All servers; those that the user sees, where the access is to some only. */
const useOwnTarget = () => {
  const isWhole = useMe()?.server_access !== 'specific'
  const servers = useQuery(summaryQuery).data?.servers ?? []
  return isWhole ? { all: true as const } : { server_ids: servers.map(({ id }) => id) }
}

/** Bans on all servers that the user may choose, for a day. What must not be banned is left out and said. */
const BanMany = ({ bans, ips = addressesOf(bans), onRun, onClose }: Given) => {
  const t = textsOf(bansTexts).bulk
  const target = useOwnTarget()
  const isTooMany = ips.length > mostAddresses
  const ban = useMutation({
    onSuccess: onRun,
    mutationFn: ({ entries, force }: { entries: readonly string[]; force: boolean }) =>
      patiently(() => banManyOnFleet(entries, target, force), never),
  })
  const refused = ban.data?.refused ?? []
  const forcible = refused.filter(({ reason }) => reason === 'force-required').map(({ entry }) => entry)
  return (
    <div className={parts.form}>
      {ban.data ? (
        <p role="status">
          <Mark tone={refused.length > 0 ? 'warn' : 'ok'}>
            {t.banned(number(ban.data.fleet_bans.length), ban.data.fleet_bans.length)}
          </Mark>
        </p>
      ) : (
        <p>{t.banText}</p>
      )}
      {isTooMany && <p className={parts.warn}>{t.tooMany(number(mostAddresses))}</p>}
      <Refused lines={refused.map(({ entry, message }) => `${entry}: ${message}`)} />
      <Refusal error={ban.error} />
      <div className={parts.row}>
        {ban.data ? (
          <Button onClick={onClose} data-autofocus>
            {t.done}
          </Button>
        ) : (
          <>
            <CancelButton onClick={onClose} focus />
            <Button
              variant="danger"
              loading={ban.isPending}
              disabled={isTooMany}
              onClick={() => ban.mutate({ entries: ips, force: false })}
            >
              {t.banOn(number(ips.length), ips.length)}
            </Button>
          </>
        )}
        {forcible.length > 0 && (
          <Button
            variant="danger"
            loading={ban.isPending}
            onClick={() => ban.mutate({ entries: forcible, force: true })}
          >
            {t.force(number(forcible.length), forcible.length)}
          </Button>
        )}
      </div>
    </div>
  )
}

/** What was refused, a line each; the first ten. */
const Refused = ({ lines }: { lines: readonly string[] }) =>
  lines.length === 0 ? null : (
    <ul className={parts.help}>
      {lines.slice(0, 10).map(line => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  )

const ReportMany = ({ bans, onClose }: Given) => {
  const t = textsOf(bansTexts).bulk
  // One ban for each address: the reputation database takes addresses.
  const [wanted] = useState(() => [...new Map(bans.map(ban => [ban.ip, ban])).values()])
  const [done, setDone] = useState(0)
  const [failed, setFailed] = useState<readonly string[]>([])
  const [stop] = useState(() => new AbortController())
  useEffect(() => () => stop.abort(), [stop])
  const report = useMutation({
    mutationFn: () =>
      paced(wanted, stop.signal, async (ban, index) => {
        try {
          await api.call('POST /bans/{banId}/report', { params: { banId: ban.id }, signal: stop.signal })
          setDone(count => count + 1)
        } catch (error) {
          if (error instanceof ApiError && error.status === 429) throw error
          // The first refusal is of all of them: it is not set up, or not allowed.
          if (index === 0 || !(error instanceof ApiError)) throw error
          setFailed(before => [...before, `${ban.ip}: ${sentenceOf(error)}`])
        }
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['bans'] }),
  })
  return (
    <div className={parts.form}>
      <p>{t.reportText}</p>
      {(report.isPending || report.isSuccess || done > 0) && (
        <p role="status">
          <Mark tone={report.isPending ? 'info' : failed.length > 0 ? 'warn' : 'ok'}>
            {t.reported(number(done), number(wanted.length))}
          </Mark>
        </p>
      )}
      <Refused lines={failed} />
      <Refusal error={report.error} />
      <div className={parts.row}>
        <Button variant="default" onClick={onClose} data-autofocus>
          {report.isSuccess ? t.done : textsOf(commonTexts).cancel}
        </Button>
        {!report.isSuccess && (
          <Button loading={report.isPending} onClick={() => report.mutate()}>
            {t.reportNow(number(wanted.length), wanted.length)}
          </Button>
        )}
      </div>
    </div>
  )
}

const ExportChosen = ({ bans, onClose }: Given) => {
  const t = textsOf(bansTexts)
  return (
    <div className={parts.form}>
      <p>{t.bulk.exportText}</p>
      <div className={parts.row}>
        {(['csv', 'json', 'plain'] as const).map(format => (
          <Button key={format} variant="default" onClick={() => saveAs(asFile(bans, format), format)}>
            {t.formats[format]}
          </Button>
        ))}
        <Button variant="subtle" onClick={onClose} data-autofocus>
          {textsOf(commonTexts).close}
        </Button>
      </div>
    </div>
  )
}

/** The receipt of a batch, which goes on when the dialog is closed. */
const Follow = ({ batchId, onClose }: { batchId: string; onClose: () => void }) => {
  const t = textsOf(bansTexts).bulk
  const [over, setOver] = useState(false)
  const onSettled = useCallback(() => {
    setOver(true)
    void queries.invalidateQueries({ queryKey: ['bans'] })
  }, [])
  return (
    <div className={parts.form}>
      <BatchReceipt batchId={batchId} list onSettled={onSettled} />
      <div className={parts.row}>
        <Button onClick={onClose} data-autofocus>
          {over ? t.done : t.toBackground}
        </Button>
      </div>
    </div>
  )
}
