import { locale } from '../texts/catalogue.ts'

const whole = new Intl.NumberFormat(locale)
const rough = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })

export const number = (value: number): string => whole.format(value)
export const percent = (value: number): string => `${rough.format(value)} %`
