import type { ReactNode } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Value } from '../../kit/search/value-menu.tsx'
import type { BansSearch } from './filter.ts'

/**
 * A value that has a list of bans, on a page that is there before the grammar of searches: that comes with the choice of
 * all bans but these. `of`: the list that both are parts of; `only`: what of it has the value.
 */
export const PartValue = (props: {
  field: 'jail' | 'server' | 'country' | 'asn' | 'ip'
  value: string
  shown: string
  of?: BansSearch
  only: BansSearch
  open?: () => void
  link?: ReactNode
  children?: ReactNode
}) => {
  const { field, value, shown, of = {}, only, open, link, children } = props
  const navigate = useNavigate()
  // On a wall nobody chooses.
  const wall = useSearch({ from: '/inside/', shouldThrow: false })?.kiosk === '1'
  if (wall) return link ?? children
  const exclude = async () => {
    const [{ queryFields }, { excludeTerm }] = await Promise.all([
      import('@stockade/contract/query/index.ts'),
      import('../../kit/search/edit.ts'),
    ])
    await navigate({ to: '/bans', search: { ...of, q: excludeTerm('', queryFields.bans, field, value) } })
  }
  return (
    <Value
      quiet
      acts={{
        value: shown,
        filter: () => void navigate({ to: '/bans', search: { ...of, ...only } }),
        exclude: () => void exclude(),
        ...(open ? { open } : {}),
      }}
      {...(link ? { link } : {})}
    >
      {children}
    </Value>
  )
}
