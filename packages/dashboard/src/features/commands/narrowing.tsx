import { createContext, useContext } from 'react'
import type { ReactNode } from 'react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { queryFields } from '@stockade/contract/query/index.ts'
import { Narrows } from '../../kit/search/narrowing.tsx'
import type { Term } from '../../kit/search/narrowing.tsx'
import { narrowing } from '../../kit/search/terms.ts'
import type { CommandsSearch } from './filter.ts'

const Fixed = createContext<CommandsSearch | null>(null)
/** The filter of a list of commands that stands on another page; a value that is chosen there leads to the page of commands. */
export const FixedCommands = Fixed.Provider

/** A value that the list of commands can be narrowed to, or to all but it. */
export const CommandValue = (
  props: Term & { link?: ReactNode; others?: readonly Term[]; marked?: boolean; children?: ReactNode },
) => {
  const fixed = useContext(Fixed)
  const isListed = useSearch({ from: '/inside/commands', shouldThrow: false }) !== undefined
  const navigate = useNavigate()
  const by = narrowing(queryFields.commands, change =>
    navigate({
      to: '/commands',
      search: latest => {
        const search = fixed ?? (isListed ? latest : {})
        return { ...search, q: change(search.q ?? ''), page: undefined }
      },
    }),
  )
  return <Narrows by={by} {...props} />
}
