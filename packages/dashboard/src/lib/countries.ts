import { readOr } from '@stockade/contract/untrusted.ts'
import { locale } from './texts/catalogue.ts'

const names = new Intl.DisplayNames(locale, { type: 'region', fallback: 'none' })
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
/** Codes that are no country: regions of the world, and codes given back. */
const none = new Set([
  'AN',
  'BU',
  'CS',
  'DD',
  'EU',
  'EZ',
  'FX',
  'NT',
  'QO',
  'SU',
  'TP',
  'UN',
  'XA',
  'XB',
  'YD',
  'YU',
  'ZR',
  'ZZ',
])

export const countryName = (code: string): string => readOr(code, () => names.of(code) ?? code)

/** Every country that the browser knows, by name. */
export const countries = (): readonly { code: string; name: string }[] =>
  letters
    .flatMap(first => letters.map(second => first + second))
    .flatMap(code => {
      const name = none.has(code) ? undefined : names.of(code)
      return name === undefined || name === code ? [] : [{ code, name }]
    })
    .sort((a, b) => a.name.localeCompare(b.name, locale))
