import { useMantineColorScheme } from '@mantine/core'
import { bounds, preferences } from '../lib/preferences.ts'
import type { Preferences, View } from '../lib/preferences.ts'

/** How the user wants the dashboard; the component renders again when that changes. */
export const usePreferences = preferences.use

/** Light, dark or as the system has it. What is chosen is worn at once and kept like every other preference. */
export const useTheme = () => {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return {
    theme: colorScheme,
    choose(theme: Preferences['theme']): void {
      setColorScheme(theme)
      preferences.change({ theme })
    },
  }
}

const none: readonly View[] = []

/** The saved views of a list: searches of its address, by name. A name that there is already is replaced. */
export const useViews = (list: string) => {
  const { views } = usePreferences()
  const mine = views[list] ?? none
  const set = (next: readonly View[]) =>
    preferences.change({ views: { ...preferences.read().views, [list]: next.slice(-bounds.views) } })
  return {
    views: mine,
    add: (name: string, search: string): void =>
      set([
        ...mine.filter(view => view.name !== name),
        { name: name.slice(0, bounds.viewName), search: search.replace(/^\?/, '').slice(0, bounds.viewSearch) },
      ]),
    rename: (name: string, to: string): void =>
      set(mine.filter(view => view.name !== to).map(view => (view.name === name ? { ...view, name: to } : view))),
    remove: (name: string): void => set(mine.filter(view => view.name !== name)),
    /** As they were, for undoing. */
    restore: (before: readonly View[]): void => set(before),
  }
}
