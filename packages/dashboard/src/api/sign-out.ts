import { api } from './client.ts'
import { feed } from './feed.ts'
import { meQuery, queries } from './queries.ts'
import { tellEnded } from './tabs.ts'
import { clearDrafts, countDrafts } from '../lib/drafts.ts'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'

/**
 * Ends the session. What was read is forgotten, also when the server can't be told, and so are edits that were not saved: it asks before
 * these are lost. False when the answer was no.
 */
export const signOut = async (): Promise<boolean> => {
  const userId = queries.getQueryData(meQuery.queryKey)?.id
  const drafts = userId === undefined ? 0 : countDrafts(userId, Date.now())
  if (drafts > 0 && !confirm(textsOf(commonTexts).signOut(drafts))) return false
  feed.stop()
  await api.call('POST /auth/logout').catch(() => {})
  tellEnded()
  sessionStorage.clear()
  clearDrafts()
  queries.clear()
  return true
}
