import flags from 'virtual:flags'
import { countryName } from '../lib/countries.ts'
import styles from './flag.module.css'

/** The flag of a country by its ISO 3166 code; an empty frame where none is known. */
export const Flag = ({ code }: { code: string | null }) => {
  const name = code && code !== 'ZZ' ? countryName(code) : null
  return (
    <svg
      className={styles.flag}
      width="18"
      height="13"
      {...(name ? { role: 'img', 'aria-label': name } : { 'aria-hidden': true })}
    >
      {name && <title>{name}</title>}
      {name && <use href={`${flags}#${code ?? ''}`} />}
    </svg>
  )
}
