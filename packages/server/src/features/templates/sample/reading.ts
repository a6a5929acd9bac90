/* Whether the engine can make a time of the parts of a date that were found; the time itself does not matter here. */

export type Reading =
  | 'reads'
  /** There may be no such date: the engine then may take the line as it was, date and all. */
  | 'may fail'
  /** The engine fails at the line and drops it. */
  | 'stumbles'
  /** Not known here, for this reason. */
  | { readonly unknown: string }
type Groups = Readonly<Record<string, string | undefined>>

/** Abbreviations of time zones that every engine knows. */
const knownZones = new Set(
  (
    'A B C D E F G H I K L M N O P Q R S T U V W X Y Z ' +
    'UTC GMT EST EDT CST CDT MST MDT PST PDT AKST AKDT HAST AST ADT WET WEST CET CEST EET EEST MSK JST KST SGT HKT'
  ).split(' '),
)
const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')

/** `groups` are named as the conversions of a datepattern. */
export const readingOf = (groups: Groups): Reading => {
  const hasGroup = (...names: readonly string[]) => names.some(name => groups[name] !== undefined)
  if (hasGroup('I') && 'p' in groups && !hasGroup('p')) return 'stumbles'
  const zone = zoneReading(groups['z'] ?? groups['Z'])
  if (zone !== 'reads') return zone
  if (Number(groups['Y'] ?? 2000) < 1900) return { unknown: 'its date lies before 1900' }
  const byWeek = hasGroup('U', 'W') && hasGroup('a', 'A', 'w')
  if (!byWeek && !hasGroup('j') && hasGroup('m', 'b', 'B') !== hasGroup('d')) return 'stumbles'
  return isDate(groups) && !hasGroup('j', 'U', 'W') ? 'reads' : 'may fail'
}

const zoneReading = (zone: string | undefined): Reading => {
  if (zone === undefined) return 'reads'
  const [whole, name] = /^([A-Z](?:[A-Z]{2,4})?)?(?:[+-][01]\d(?::?\d{2})?)?$/.exec(zone) ?? []
  if (whole === undefined) return 'may fail'
  return name === undefined || knownZones.has(name)
    ? 'reads'
    : {
        unknown: `"${name}" stands where a time zone may stand, and the engine drops lines with one that it does not know`,
      }
}

/** Whether that day and that time of day certainly exist. */
const isDate = (groups: Groups): boolean => {
  const number = (name: string, otherwise: number) => Number(groups[name]?.trim() ?? otherwise)
  const monthName = (groups['b'] ?? groups['B'])?.slice(0, 3).toLowerCase()
  const month = monthName === undefined ? number('m', 1) : months.indexOf(monthName) + 1
  // Without a year it is this one or the last, which need not be leap years.
  const year = groups['Y'] === undefined && groups['y'] === undefined ? 2001 : number('Y', 2000 + number('y', 0))
  const day = number('d', 1)
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate()
  const hour = groups['I'] === undefined ? number('H', 0) : number('I', 0)
  return (
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= last &&
    hour <= (groups['I'] === undefined ? 23 : 12) &&
    number('M', 0) <= 59 &&
    number('S', 0) <= 59
  )
}
