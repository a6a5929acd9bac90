import { Fragment } from 'react'
import { Link } from '@tanstack/react-router'
import parts from '../../kit/parts.module.css'
import { Stranger } from '../../kit/stranger.tsx'
import { clip } from '../../lib/clip.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { exactTime } from '../../lib/time.ts'
import type { Entry } from './audit-list.ts'
import { auditTexts } from './audit.texts.ts'
import { linkOf } from './filter.ts'
import { useNarrowing } from './narrowing.ts'
import { detailsOf } from './sentences.ts'
import styles from './audit.module.css'

/** All that an entry says, and the entry itself. */
export const EntryDetails = ({ entry }: { entry: Entry }) => {
  const t = textsOf(auditTexts)
  const by = useNarrowing()
  const { id, type } = entry.details
  const commandId = entry.action.startsWith('command.') && typeof type === 'string' ? id : undefined
  return (
    <div className={styles.details}>
      <dl className={parts.details}>
        {detailsOf(entry).map(({ name, from, to }) => (
          <Fragment key={name}>
            <dt>{name || t.changed}</dt>
            <dd>
              {from !== undefined && (
                <>
                  <Stranger text={from} most={500} /> →{' '}
                </>
              )}
              <Stranger text={to} most={500} />
            </dd>
          </Fragment>
        ))}
        <dt>{t.columns.address}</dt>
        <dd>
          {entry.ip_address ? (
            <Link to="/ip/$addr" params={{ addr: entry.ip_address }}>
              {entry.ip_address}
            </Link>
          ) : (
            '–'
          )}
        </dd>
        <dt>{t.kind}</dt>
        <dd>
          <button
            type="button"
            className={`${parts.value ?? ''} ${parts.mono ?? ''}`}
            aria-description={t.filterAction(entry.action)}
            onClick={() => by.only('action', entry.action)}
          >
            {entry.action}
          </button>
        </dd>
      </dl>
      <pre className={parts.lines} dir="ltr" tabIndex={0} role="region" aria-label={t.asJson}>
        {clip(JSON.stringify(entry, null, 2), 20_000).shown}
      </pre>
      <div className={styles.links}>
        <span className={parts.muted}>{exactTime(Date.parse(entry.timestamp))}</span>
        {typeof commandId === 'string' && (
          <Link to="/commands/$commandId" params={{ commandId }} className={parts.link}>
            {t.toCommand}
          </Link>
        )}
        <Link to="/audit" search={linkOf(entry)} className={parts.link}>
          {t.permalink}
        </Link>
      </div>
    </div>
  )
}
