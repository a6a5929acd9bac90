import { useQuery } from '@tanstack/react-query'
import { templatesQuery } from './queries.ts'
import { saidOf } from './said-words.ts'
import type { Named } from './said-words.ts'

/**
 * What a command asks for, in words, with the names of templates, once they are known. `isNeeded`: false where no template is named,
 * so that nothing is asked for.
 */
export const useSaid = (isNeeded = true): ((row: Named) => string) => {
  const templates = useQuery({ ...templatesQuery({}), staleTime: 5 * 60_000, enabled: isNeeded }).data?.templates
  return row => saidOf(row, id => templates?.find(template => template.id === id)?.name)
}
