import { useEffect, useEffectEvent } from 'react'
import { useMantineColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { keptPreferencesKey, optionsQuery, queries } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { usePreferences } from '../../kit/preferences.ts'
import { chooseLanguage, languages } from '../../lib/texts/language.ts'
import type { Language } from '../../lib/texts/language.ts'
import { preferences } from '../../lib/preferences.ts'

const isLanguage = (tag: string | null): tag is Language => tag !== null && Object.hasOwn(languages, tag)

/** Takes over what the account keeps, and keeps there what is changed here. The last one to write wins. */
export const KeptPreferences = () => {
  const { setColorScheme } = useMantineColorScheme()
  const userId = useMe()?.id
  const { zone } = usePreferences()
  const siteZone = useQuery({ ...optionsQuery, enabled: zone === 'site' }).data?.timezone
  useEffect(() => preferences.setSiteZone(siteZone), [siteZone])

  const wear = useEffectEvent((theme: 'auto' | 'light' | 'dark') => setColorScheme(theme))

  useEffect(() => {
    if (userId === undefined) return
    let isKeeping = false
    /** Written at once, one request at a time: a tab may be closed right after a change. */
    const keep = async (): Promise<void> => {
      if (isKeeping || !preferences.isUnsaved()) return
      isKeeping = true
      const now = preferences.read()
      let isSaved = false
      try {
        await api.call('PUT /users/me/preferences', { body: { preferences: { ...now } } })
        preferences.saved(now)
        isSaved = true
      } catch {
        // They stay in this browser, and go along with the next change or load.
      }
      isKeeping = false
      if (isSaved) await keep()
    }
    const changed = () => void keep()
    const leaving = new AbortController()
    const begin = async () => {
      preferences.belongTo(userId)
      if (preferences.isUnsaved()) return changed()
      const serverPreferences =
        queries.getQueryData<Record<string, unknown>>(keptPreferencesKey) ??
        (await api.call('GET /users/me/preferences', { signal: leaving.signal })).preferences
      // A choice made before the reply arrives wins.
      if (preferences.isUnsaved() || Object.keys(serverPreferences).length === 0) return
      preferences.replace(serverPreferences)
      const { theme, language } = preferences.read()
      wear(theme)
      // It shows with the next load of the page.
      chooseLanguage(isLanguage(language) ? language : null)
    }
    // Without an answer there is nothing to take over; what is changed is kept here, and there another time.
    begin().catch(() => {})
    const end = preferences.watch(changed)
    return () => {
      leaving.abort()
      end()
    }
  }, [userId])

  return null
}
