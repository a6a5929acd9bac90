import { IconX } from '@tabler/icons-react'
import parts from '../parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { searchTexts } from './search.texts.ts'
import styles from './search.module.css'

export interface Chip {
  /** What it is about, where the value does not say so itself. */
  readonly name?: string
  readonly value: string
  onRemove(): void
}

/** What the list is filtered by, each to be taken off by itself. */
export const Chips = ({ chips }: { chips: readonly Chip[] }) => {
  const t = textsOf(searchTexts)
  if (chips.length === 0) return null
  return (
    <ul className={styles.chips} aria-label={t.set}>
      {chips.map(({ name, value, onRemove }, index) => (
        <li key={`${index} ${name ?? ''} ${value}`}>
          <button type="button" className={parts.chip} onClick={onRemove}>
            <span className={parts.hidden}>{t.remove}</span>
            {name && <span className={parts.muted}>{name}</span>}
            <bdi>{value}</bdi>
            <IconX size={14} />
          </button>
        </li>
      ))}
    </ul>
  )
}
