/**
 * The language of the texts, chosen before anything else is loaded: what was chosen in the preferences, else the first
 * of the browser's languages that there is. A module of its own, since the entry needs it before the app.
 */
export const languages = { en: 'English', de: 'Deutsch', fr: 'Français', es: 'Español' } as const
export type Language = keyof typeof languages

const key = 'stockade-language'
const isLanguage = (tag: string): tag is Language => Object.hasOwn(languages, tag)
const stored = (): string | null => {
  try {
    return globalThis.localStorage.getItem(key)
  } catch {
    return null
  }
}
/** Longer, accented English, for tests: shows what is not in a catalogue and what is cut. */
export const isPseudo = stored() === 'pseudo'

const choose = (): Language => {
  const wanted = [stored() ?? '', ...(typeof window === 'undefined' ? [] : navigator.languages)]
  return isPseudo ? 'en' : (wanted.map(tag => tag.split('-')[0] ?? '').find(isLanguage) ?? 'en')
}
export const language: Language = choose()
/** What was chosen in this browser, null where its own language decides. */
export const chosenLanguage = (): Language | null => {
  const chosen = stored()
  return chosen !== null && isLanguage(chosen) ? chosen : null
}
/** Keeps the choice; it shows with the next load of the page. Returns whether it differs from what is shown. */
export const chooseLanguage = (chosen: Language | null): boolean => {
  try {
    if (chosen === null) globalThis.localStorage.removeItem(key)
    else globalThis.localStorage.setItem(key, chosen)
  } catch {
    return false
  }
  return choose() !== language
}

type Translations = Readonly<Record<string, unknown>>
let translations: Translations = {}
/** The texts of a catalogue in this language, undefined for those of the code itself. */
export const translated = (name: string): unknown => translations[name]

const sources: Readonly<Record<Exclude<Language, 'en'>, readonly (() => Promise<{ texts: Translations }>)[]>> = {
  de: [() => import('./de/first.ts'), () => import('./de/later.ts')],
  fr: [() => import('./fr/first.ts'), () => import('./fr/later.ts')],
  es: [() => import('./es/first.ts'), () => import('./es/later.ts')],
}
/** Brings the texts of the language; without them English is better than nothing. */
export const loadLanguage = async (): Promise<void> => {
  document.documentElement.lang = language
  if (language === 'en') return
  const parts = await Promise.all(sources[language].map(load => load().catch(() => ({ texts: {} }))))
  translations = Object.assign({}, ...parts.map(({ texts }) => texts)) as Translations
}
