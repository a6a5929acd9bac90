import parts from '../../kit/parts.module.css'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { blocklistsTexts } from './blocklists.texts.ts'
import { leftOutWords } from './columns.tsx'
import type { BlocklistPreview } from './queries.ts'
import styles from './blocklists.module.css'

/** What a source would hold, and what of the user's it names. */
export const Preview = ({ found }: { found: BlocklistPreview }) => {
  const t = textsOf(blocklistsTexts)
  const { dialog } = t
  const { servers, whitelist, sessions, you } = found.conflicts
  const yours = [...servers, ...whitelist]
  const share = `${found.share_percent < 0.01 ? '< 0.01' : found.share_percent.toFixed(2)} %`
  return (
    <div className={styles.preview} role="status">
      <b>{dialog.size(number(found.entries), number(found.addresses), share)}</b>
      {found.samples.length > 0 && <span dir="auto">{dialog.samples(found.samples.slice(0, 3).join(', '))}</span>}
      <span className={parts.muted}>
        {t.columns.leftOut}: {leftOutWords(found.left_out)}
      </span>
      {found.unread.length > 0 && (
        <span>
          {dialog.unread(
            found.unread
              .slice(0, 3)
              .map(({ line, form }) => `${line} (${form})`)
              .join(', '),
          )}
        </span>
      )}
      {yours.length > 0 && <span>{dialog.yours(yours.join(', '))}</span>}
      {sessions !== null && sessions > 0 && <span>{dialog.sessions(sessions)}</span>}
      {you && <strong>{dialog.you}</strong>}
    </div>
  )
}
