import { useNavigate } from '@tanstack/react-router'
import { queryFields } from '@stockade/contract/query/index.ts'
import { narrowing } from '../../kit/search/terms.ts'
import type { Narrowing } from '../../kit/search/terms.ts'
import type { AuditSearch } from './filter.ts'

export const language = queryFields.audit

type Change = Partial<AuditSearch> | ((latest: AuditSearch) => Partial<AuditSearch>)
/** Shows the log by other conditions, from its first page. A change is made to those of that moment. */
export const useFilter = () => {
  const navigate = useNavigate()
  return (change: Change, replace = false) =>
    void navigate({
      from: '/audit',
      to: '/audit',
      search: latest => ({
        ...latest,
        ...{ pin: undefined, page: undefined, open: undefined },
        ...(typeof change === 'function' ? change(latest) : change),
      }),
      replace,
    })
}

export const useNarrowing = (): Narrowing => {
  const filter = useFilter()
  return narrowing(language, change => filter(({ q = '' }) => ({ q: change(q) })))
}
