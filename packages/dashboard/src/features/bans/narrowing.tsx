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

/** Another filter begins at the first page, of now. */
export const useFilter = () => {
  const search = useBansSearch()
  const navigate = useNavigate()
  return (change: Partial<BansSearch>, replace = false) =>
    void navigate({
      to: '/bans',
      search: {
        ...search,
        // A pin belongs to the pages of the list that it was made for.
        ...(search.page && !('to' in change) ? { to: undefined } : {}),
        ...change,
        page: undefined,
      },
      replace,
    })
}
/** Narrows the list to a value of a field, or to anything but it. */
export const useNarrowing = (): Narrowing => {
  const { q = '' } = useBansSearch()
  const filter = useFilter()
  return narrowing(queryFields.bans, q, narrowed => filter({ q: narrowed }))
}

/** A value that the list of bans can be narrowed to, or to all but it. */
export const BanValue = (
  props: Term & { open?: () => void; link?: ReactNode; more?: readonly Act[]; children?: ReactNode },
) => <Narrows by={useNarrowing()} {...props} />
