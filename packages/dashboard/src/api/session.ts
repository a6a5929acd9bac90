import { useQuery } from '@tanstack/react-query'
import { meQuery } from './queries.ts'
import type { Me } from './queries.ts'
import { roleMay } from './roles.ts'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'

export const useMe = (): Me | undefined => useQuery(meQuery).data

/** Whether I may write or administer; and where not, why, as a text to stand beside what is disabled. */
export const useMay = (what: 'write' | 'admin'): { readonly may: boolean; readonly reason: string | undefined } => {
  const me = useMe()
  if (!me) return { may: false, reason: undefined }
  return roleMay(me.role, what)
    ? { may: true, reason: undefined }
    : { may: false, reason: textsOf(commonTexts).needs[what](me.role) }
}
