import { useEffect, useState } from 'react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { tooMuchOf } from './sample-words.ts'

/** A value a moment after it stopped changing. */
const useSettled = <T>(value: T, wait: number): T => {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), wait)
    return () => clearTimeout(timer)
  }, [value, wait])
  return settled
}

/** Nobody can type a null character, and pasted ones are not part of a log. */
export const useTemplateCheck = (jail: string, filter: string, lines: string) => {
  const sent = lines.trim() === '' || tooMuchOf(lines) ? '' : lines.replaceAll('\u0000', '\ufffd')
  const settled = useSettled([jail, filter, sent].join('\u0000'), 400)
  const [jail_config = '', filter_config = '', sample = ''] = settled.split('\u0000')
  const query = useQuery({
    queryKey: ['validate', jail_config, filter_config, sample],
    queryFn: async ({ signal }) => {
      const body = { jail_config, filter_config, ...(sample === '' ? {} : { sample }) }
      const { matches, sample_note = null, ...verdict } = await api.call('POST /templates/validate', { body, signal })
      return { verdict, tried: matches ? { sample, matches, note: sample_note } : null }
    },
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 60_000,
  })
  // Lines that are no longer there have no marks either.
  const tried = sent === '' ? null : (query.data?.tried ?? null)
  return { query, verdict: query.data?.verdict, tried }
}
export type TemplateCheck = ReturnType<typeof useTemplateCheck>
