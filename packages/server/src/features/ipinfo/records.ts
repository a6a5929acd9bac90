/** A field of a record of unknown shape: MaxMind nests them, others write them flat. */
export const field = (record: unknown, ...path: readonly string[]): unknown => {
  let value = record
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !(name in value)) return undefined
    value = Reflect.get(value, name)
  }
  return value
}
export const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
export const degrees = (value: unknown): number | null => {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Math.abs(number) <= 180 ? number : null
}
/** The two letters of the country of a record. */
export const countryOf = (record: unknown): string | null => {
  const code = text(field(record, 'country', 'iso_code')) ?? text(field(record, 'country_code'))
  // ZZ is how some data sets write "unknown".
  return code !== null && /^[A-Z]{2}$/.test(code) && code !== 'ZZ' ? code : null
}
export const networkOf = (record: unknown): { readonly asn: number; readonly org: string | null } | null => {
  const asn = field(record, 'autonomous_system_number')
  if (typeof asn !== 'number') return null
  return { asn, org: text(field(record, 'autonomous_system_organization')) }
}
