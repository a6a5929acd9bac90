import { useNavigate, useSearch } from '@tanstack/react-router'
import { queryFields } from '@stockade/contract/query/index.ts'
import { narrowing } from '../../kit/search/terms.ts'
import type { Narrowing } from '../../kit/search/terms.ts'
import type { AuditSearch } from './filter.ts'

export const language = queryFields.audit

/** Shows the log by other conditions, from its first page. */
export const useFilter = () => {
  const search = useSearch({ from: '/inside/audit' })
  const navigate = useNavigate()
  return (change: Partial<AuditSearch>, replace = false) =>
    void navigate({
      to: '/audit',
      search: { ...search, pin: undefined, page: undefined, open: undefined, ...change },
      replace,
    })
}

export const useNarrowing = (): Narrowing => {
  const { q = '' } = useSearch({ from: '/inside/audit' })
  const filter = useFilter()
  return narrowing(language, q, narrowed => filter({ q: narrowed }))
}
