import type { ReactNode } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { queryFields } from '@stockade/contract/query/index.ts'
import { Narrows } from '../../kit/search/narrowing.tsx'
import type { Term } from '../../kit/search/narrowing.tsx'
import { narrowing } from '../../kit/search/terms.ts'

/** A value that the list of servers can be narrowed to, or to all but it. */
export const ServerValue = (
  props: Term & { link?: ReactNode; others?: readonly Term[]; marked?: boolean; children?: ReactNode },
) => {
  const isListed = useSearch({ from: '/inside/servers', shouldThrow: false }) !== undefined
  const navigate = useNavigate()
  const by = narrowing(queryFields.servers, change =>
    navigate({ to: '/servers', search: ({ q }) => ({ q: change((isListed && q) || '') }) }),
  )
  return <Narrows by={by} {...props} />
}
