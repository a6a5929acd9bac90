/**
 * Every text that a person reads stands in a catalogue beside the page that shows it. A catalogue has one set of texts
 * a language, all of one type: a key that is missing in one of them does not compile.
 */
export interface Catalogue<T> {
  readonly en: T
}
export const language: keyof Catalogue<unknown> = 'en'

export const textsOf = <T>(catalogue: Catalogue<T>): T => catalogue[language]

/** Dates and numbers follow the browser's region where it speaks the language of the texts. */
export const locale: string =
  typeof navigator === 'undefined'
    ? 'en-GB'
    : (navigator.languages.find(tag => tag === language || tag.startsWith(`${language}-`)) ?? 'en-GB')

const rules = new Intl.PluralRules(language)
/** The form for this number; `other` stands for every form that is not given. */
export const plural = (
  count: number,
  forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string },
): string => forms[rules.select(count)] ?? forms.other
