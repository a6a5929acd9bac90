import { Link } from '@tanstack/react-router'
import type { Entry } from '../fleet/queries.ts'
import type { ListColumn } from '../../kit/list-rows.ts'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Time, TimeWords } from '../../kit/time.tsx'
import { useNarrow } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { covers } from '../../lib/address.ts'
import { number } from '../../lib/numbers.ts'
import { endWords } from './ends.ts'
import { endsTexts } from './ends.texts.ts'
import { sizeOf } from './lines.ts'
import { whitelistTexts } from './whitelist.texts.ts'
import styles from './whitelist.module.css'

/** Leads to what is known of the address or the range; where a row has no room for actions, it opens them. */
const Address = ({ entry: { ip }, onEdit }: { entry: Entry; onEdit: (() => void) | undefined }) => {
  const t = textsOf(whitelistTexts)
  const isNarrow = useNarrow()
  if (isNarrow && onEdit)
    return (
      <button
        type="button"
        className={`${parts.value} ${styles.ip}`}
        data-open
        aria-label={t.editOf(ip)}
        onClick={onEdit}
      >
        {ip}
      </button>
    )
  return <AddressLink ip={ip} />
}
export const AddressLink = ({ ip }: { ip: string }) =>
  ip.includes('/') ? (
    <Link to="/bans" search={{ q: `ip:${ip}` }} className={styles.ip} title={ip} data-open>
      {ip}
    </Link>
  ) : (
    <Link to="/ip/$addr" params={{ addr: ip }} className={styles.ip} title={ip} data-open>
      {ip}
    </Link>
  )

const Size = ({ ip }: { ip: string }) => {
  const t = textsOf(whitelistTexts)
  const size = sizeOf(ip)
  return <>{size === null ? t.huge(128 - Number(ip.split('/')[1])) : t.size(number(size), size)}</>
}

const Ends = ({ at }: { at: string | null }) => {
  const { forEver } = textsOf(endsTexts)
  return at === null ? (
    <span className={parts.muted}>{forEver}</span>
  ) : (
    <TimeWords at={at} say={(_, now) => endWords(at, forEver, now)} />
  )
}

/** @param by.onEdit absent for those who may not change the list */
export const columnsOf = (by: { mine: string; onEdit?: (entry: Entry) => void }): readonly ListColumn<Entry>[] => {
  const t = textsOf(whitelistTexts)
  const { mine, onEdit } = by
  return [
    {
      key: 'ip',
      name: t.columns.ip,
      width: 230,
      at: 'title',
      cell: entry => (
        <>
          <Address entry={entry} onEdit={onEdit && (() => onEdit(entry))} />{' '}
          {covers(entry.ip, mine) && <Mark tone="allow">{t.coversYou}</Mark>}
        </>
      ),
    },
    {
      key: 'description',
      name: t.columns.description,
      at: 'about',
      cell: ({ description }) => description && <Stranger text={description} most={200} />,
    },
    { key: 'size', name: t.columns.size, width: 136, wideOnly: true, at: 'about', cell: ({ ip }) => <Size ip={ip} /> },
    {
      key: 'by',
      name: t.columns.by,
      width: 90,
      wideOnly: true,
      cell: ({ created_by: author }) => <Stranger text={author} most={40} />,
    },
    { key: 'at', name: t.columns.at, width: 90, wideOnly: true, cell: ({ created_at: at }) => <Time at={at} /> },
    { key: 'ends', name: t.columns.ends, width: 110, end: true, at: 'end', cell: row => <Ends at={row.expires_at} /> },
  ]
}
