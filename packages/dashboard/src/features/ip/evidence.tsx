import { useState } from 'react'
import { IconCopy } from '@tabler/icons-react'
import type { Ban } from '../../api/queries.ts'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { copyValue } from '../../kit/search/value-menu.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { usePhone } from '../../kit/width.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { clip, nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { ipTexts } from './ip.texts.ts'
import { partsOfLine } from './log-lines.ts'
import styles from './ip.module.css'

/** Characters of a line that are shown before it is asked for whole. */
const widest = 240

/** The newest ban of each server that came with log lines. */
const evidenceOf = (bans: readonly Ban[]): readonly Ban[] => {
  const byServer = new Map<string, Ban>()
  for (const ban of bans)
    if (ban.log_lines.trim() !== '' && !byServer.has(ban.server.id)) byServer.set(ban.server.id, ban)
  return [...byServer.values()]
}

/** Log lines that led to the bans, as fail2ban read them; names and the address in them are marked. */
export const Evidence = ({ bans }: { bans: readonly Ban[] }) => {
  const t = textsOf(ipTexts)
  const phone = usePhone()
  const [all, setAll] = useState(false)
  const evidence = evidenceOf(bans)
  if (evidence.length === 0) return null
  const most = phone ? 1 : 2
  return (
    <Panel title={t.evidence} aside={<span className={styles.dim}>{t.evidenceHelp}</span>}>
      {(all ? evidence : evidence.slice(0, most)).map(ban => (
        <Excerpt key={ban.id} ban={ban} most={phone ? 4 : 8} />
      ))}
      {!all && evidence.length > most && (
        <button type="button" className={parts.quiet} onClick={() => setAll(true)}>
          {t.moreServers(evidence.length - most)}
        </button>
      )}
    </Panel>
  )
}

const Excerpt = ({ ban, most }: { ban: Ban; most: number }) => {
  const t = textsOf(ipTexts)
  const { more, less, copy } = textsOf(commonTexts)
  const [all, setAll] = useState(false)
  const lines = clip(ban.log_lines, 65_536)
    .shown.split('\n')
    .filter(line => line.trim() !== '')
  const words = [ban.ip, ...(ban.reason?.users ?? []), ...(ban.reason?.paths ?? [])]
  const visibleLines = all
    ? lines
    : lines.slice(-most).map(line => (line.length > widest ? `${line.slice(0, widest)}…` : line))
  const isCut = lines.length > most || lines.some(line => line.length > widest)
  return (
    <div className={styles.excerpt}>
      <div className={styles.excerptHead}>
        <b>
          <Stranger text={ban.server.hostname} most={60} />
        </b>
        <span className={styles.dim}>
          <Stranger text={ban.jail} most={64} />
        </span>
        <span className={styles.dim} data-end>
          {t.lines(number(visibleLines.length), number(lines.length), lines.length)}
        </span>
        <SmallButton
          leftSection={<IconCopy size={14} />}
          onClick={() => void copyValue(ban.log_lines, t.linesCopied(lines.length))}
        >
          {copy}
        </SmallButton>
      </div>
      <pre
        className={styles.well}
        dir="ltr"
        tabIndex={0}
        role="region"
        aria-label={t.linesOf(nameOf(ban.server.hostname))}
      >
        {visibleLines.map((line, index) => (
          <span key={index}>
            {partsOfLine(line, words).map(({ text, kind }, at) =>
              kind === 'mark' ? (
                <mark key={at}>{text}</mark>
              ) : kind === 'time' ? (
                <span key={at} className={styles.dim}>
                  {text}
                </span>
              ) : (
                text
              ),
            )}
            {'\n'}
          </span>
        ))}
      </pre>
      {isCut && (
        <button type="button" className={parts.quiet} onClick={() => setAll(!all)}>
          {all ? less : more}
        </button>
      )}
    </div>
  )
}
