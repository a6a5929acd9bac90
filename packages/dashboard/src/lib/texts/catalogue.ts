import { isPseudo, language, translated } from './language.ts'
import { pseudo } from './pseudo.ts'

/**
 * Every text that a person reads stands in a catalogue beside the page that shows it, in English. Other languages are
 * folders beside this file with the same catalogues by name, of the same type: a key that is missing does not compile.
 */
export interface Catalogue<T> {
  readonly name: string
  readonly en: T
}

const textsByCatalogue = new WeakMap<Catalogue<unknown>, unknown>()
/** The texts of a catalogue in the language of this page. */
export const textsOf = <T>(catalogue: Catalogue<T>): T => {
  const knownTexts = textsByCatalogue.get(catalogue)
  if (knownTexts !== undefined) return knownTexts as T
  const texts = (translated(catalogue.name) as T | undefined) ?? (isPseudo ? pseudo(catalogue.en) : catalogue.en)
  textsByCatalogue.set(catalogue, texts)
  return texts
}

/** Dates and numbers follow the browser's region where it speaks the language of the texts. */
export const locale: string =
  (typeof navigator === 'undefined'
    ? undefined
    : navigator.languages.find(tag => tag === language || tag.startsWith(`${language}-`))) ??
  (language === 'en' ? 'en-GB' : language)

const rules = new Intl.PluralRules(language)
/** The form for this number; `other` stands for every form that is not given. */
export const plural = (
  count: number,
  forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string },
): string => forms[rules.select(count)] ?? forms.other
