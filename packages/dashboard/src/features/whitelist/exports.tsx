import parts from '../../kit/parts.module.css'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { whitelistTexts } from './whitelist.texts.ts'
import styles from './whitelist.module.css'

/** The whole list as a file, in each of its formats. */
export const Exports = () => {
  const t = textsOf(whitelistTexts)
  return (
    <div className={styles.exports}>
      <span className={parts.muted}>{t.export}</span>
      {(['plain', 'csv', 'json'] as const).map(format => (
        <a
          key={format}
          className={parts.link}
          href={`${ownAddress}/api/v1/whitelist/export?format=${format}`}
          download={`whitelist.${format === 'plain' ? 'txt' : format}`}
          aria-label={t.exportOf(t.exports[format])}
        >
          {t.exports[format]}
        </a>
      ))}
    </div>
  )
}
