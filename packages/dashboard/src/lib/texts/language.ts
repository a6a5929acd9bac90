import { readOr } from '@stockade/contract/untrusted.ts'
/**
 * The language of the texts, chosen before anything else is loaded: what was chosen in the preferences, else the first
 * of the browser's languages that there is. A module of its own, since the entry needs it before the app.
 */
export const languages = { en: 'English', de: 'Deutsch', fr: 'Français', es: 'Español' } as const
export type Language = keyof typeof languages

const key = 'stockade-language'
const isLanguage = (tag: string): tag is Language => Object.hasOwn(languages, tag)
const stored = (): string | null => readOr(null, () => globalThis.localStorage.getItem(key))
/** Longer, accented English, for tests: shows what is not in a catalogue and what is cut. */
export const isPseudo = stored() === 'pseudo'

const choose = (): Language => {
  const preferredTags = [stored() ?? '', ...(typeof window === 'undefined' ? [] : navigator.languages)]
  return isPseudo ? 'en' : (preferredTags.map(tag => tag.split('-')[0] ?? '').find(isLanguage) ?? 'en')
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

export type Translations = Readonly<Record<string, unknown>>
let translations: Translations = {}
/** The texts of a catalogue in this language, undefined for those of the code itself. */
export const translated = (name: string): unknown => translations[name]
/** Called once, before the app is loaded: `app/texts/load.ts` knows where the texts are. */
export const keepTranslations = (loaded: Translations): void => {
  translations = loaded
}
