import { keepTranslations, language } from '../../lib/texts/language.ts'
import type { Language, Translations } from '../../lib/texts/language.ts'

const sources: Readonly<Record<Exclude<Language, 'en'>, readonly (() => Promise<{ texts: Translations }>)[]>> = {
  de: [() => import('./de/first.ts'), () => import('./de/later.ts'), () => import('./de/policy.ts')],
  fr: [() => import('./fr/first.ts'), () => import('./fr/later.ts'), () => import('./fr/policy.ts')],
  es: [() => import('./es/first.ts'), () => import('./es/later.ts'), () => import('./es/policy.ts')],
}
/** Loads the texts of the language; where that fails, English is better than nothing. */
export const loadLanguage = async (): Promise<void> => {
  document.documentElement.lang = language
  if (language === 'en') return
  const parts = await Promise.all(sources[language].map(load => load().catch(() => ({ texts: {} }))))
  keepTranslations(Object.assign({}, ...parts.map(({ texts }) => texts)) as Translations)
}
