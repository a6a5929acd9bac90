import { useQuery } from '@tanstack/react-query'
import { api } from './client.ts'
import { live } from './live.ts'
import { meQuery, queries } from './queries.ts'
import type { Me } from './queries.ts'
import { roleMay } from './roles.ts'
import { tellEnded } from './tabs.ts'
import { clearDrafts, countDrafts } from '../lib/drafts.ts'
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

/**
 * Ends the session. What was read is forgotten, also when the server can't be told, and so are edits that were not saved: it asks before
 * these are lost. False when the answer was no.
 */
export const signOut = async (): Promise<boolean> => {
  const userId = queries.getQueryData(meQuery.queryKey)?.id
  const drafts = userId === undefined ? 0 : countDrafts(userId, Date.now())
  if (drafts > 0 && !confirm(textsOf(commonTexts).signOut(drafts))) return false
  live.stop()
  await api.call('POST /auth/logout').catch(() => {})
  tellEnded()
  sessionStorage.clear()
  clearDrafts()
  queries.clear()
  return true
}
