import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { checkQuery } from '../fleet/queries.ts'
import { FindField } from '../../kit/find-field.tsx'
import parts from '../../kit/parts.module.css'
import { useTyped } from '../../kit/typed.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { readRange } from '../../lib/address.ts'
import { whitelistTexts } from './whitelist.texts.ts'
import styles from './whitelist.module.css'

/** Searches texts, and of a whole address says whether the list covers it, also by a range that does not contain the text. */
export const WhitelistSearch = () => {
  const t = textsOf(whitelistTexts)
  const searchText = useSearch({ from: '/inside/whitelist' }).search ?? ''
  const navigate = useNavigate()
  const { typed, setTyped } = useTyped(
    searchText,
    text => void navigate({ to: '/whitelist', search: { search: text || undefined }, replace: true }),
    { wait: 300, valid: () => true, merge: unsent => unsent },
  )
  const isAddress = readRange(searchText) !== null && !searchText.includes('/')
  const check = useQuery({ ...checkQuery(searchText), enabled: isAddress }).data
  return (
    <div role="search" className={`${parts.row ?? ''} ${styles.search ?? ''}`}>
      <FindField label={t.search} value={typed} onValue={setTyped} />
      {isAddress && check && (
        <p className={parts.note} role="status">
          {check.matched_entry
            ? t.covered(check.ip, check.matched_entry.ip, check.matched_entry.description)
            : t.notCovered(check.ip)}
        </p>
      )}
    </div>
  )
}
