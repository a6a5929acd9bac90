import { useEffect, useEffectEvent } from 'react'
import { useMantineColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { optionsQuery } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { usePreferences } from '../../kit/preferences.ts'
import { chooseLanguage, languages } from '../../lib/texts/language.ts'
import type { Language } from '../../lib/texts/language.ts'
import { preferences } from '../../lib/preferences.ts'

/** Several changes in a row, such as choices that are tried, are kept once. In milliseconds. */
const settling = 800
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
    let timer: ReturnType<typeof setTimeout> | undefined
    const keep = async () => {
      if (!preferences.isUnsaved()) return
      const now = preferences.read()
      try {
        await api.call('PUT /users/me/preferences', { body: { preferences: { ...now } } })
        preferences.saved(now)
      } catch {
        // They stay in this browser, and go along with the next change or load.
      }
    }
    const changed = () => {
      clearTimeout(timer)
      timer = setTimeout(() => void keep(), settling)
    }
    const leaving = new AbortController()
    const begin = async () => {
      preferences.belongTo(userId)
      if (preferences.isUnsaved()) return changed()
      const found = (await api.call('GET /users/me/preferences', { signal: leaving.signal })).preferences
      // Whoever was faster than the answer means it.
      if (preferences.isUnsaved() || Object.keys(found).length === 0) return
      preferences.replace(found)
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
      clearTimeout(timer)
      end()
    }
  }, [userId])

  return null
}
