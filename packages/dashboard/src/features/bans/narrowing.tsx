import { createContext, useContext } from 'react'
import type { ReactNode } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { queryFields } from '@stockade/contract/query/index.ts'
import { Narrows } from '../../kit/search/narrowing.tsx'
import type { Term } from '../../kit/search/narrowing.tsx'
import { narrowing } from '../../kit/search/terms.ts'
import type { Narrowing } from '../../kit/search/terms.ts'
import type { Act } from '../../kit/search/value-menu.tsx'
import type { BansSearch } from './filter.ts'

const Fixed = createContext<BansSearch | null>(null)
/** Filters of a list of bans that stands on another page; a value that is clicked there leads to the page of bans. */
export const FixedSearch = Fixed.Provider
/** What the list is filtered by: as the URL says, or as the page that holds it. */
export const useBansSearch = (): BansSearch => {
  const fixed = useContext(Fixed)
  const search = useSearch({ from: '/inside/bans', shouldThrow: false })
  return fixed ?? search ?? {}
}

export type BansChange = Partial<BansSearch> | ((latest: BansSearch) => Partial<BansSearch>)
const changed = (latest: BansSearch, change: BansChange): BansSearch => {
  const news = typeof change === 'function' ? change(latest) : change
  return {
    ...latest,
    // A pin belongs to the pages of the list that it was made for.
    ...(latest.page && !('to' in news) ? { to: undefined } : {}),
    ...news,
    page: undefined,
  }
}
/** Another filter begins at the first page, of now. A change is made to the filter of that moment, not to the one that was drawn. */
export const useFilter = () => {
  const fixed = useContext(Fixed)
  const isListed = useSearch({ from: '/inside/bans', shouldThrow: false }) !== undefined
  const navigate = useNavigate()
  return (change: BansChange, replace = false) =>
    void navigate({
      to: '/bans',
      search: latest => changed(fixed ?? (isListed ? latest : {}), change),
      replace,
    })
}
/** Narrows the list to a value of a field, or to anything but it. */
export const useNarrowing = (): Narrowing => {
  const filter = useFilter()
  return narrowing(queryFields.bans, change => filter(({ q = '' }) => ({ q: change(q) })))
}

/** A value that the list of bans can be narrowed to, or to all but it. */
export const BanValue = (
  props: Term & { open?: () => void; link?: ReactNode; more?: readonly Act[]; children?: ReactNode },
) => <Narrows by={useNarrowing()} {...props} />
