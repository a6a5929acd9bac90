import { locale } from './texts/catalogue.ts'

const whole = new Intl.NumberFormat(locale)
const rough = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })

export const number = (value: number): string => whole.format(value)
export const percent = (value: number): string => `${rough.format(value)} %`

/** The number of a thing as an address names it: digits alone, from 1; null where it is none. */
export const readId = (text: string | undefined): number | null =>
  text !== undefined && /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null
