/** A part of a log line: its time, what is marked in it, or the text between. */
export interface LinePart {
  readonly text: string
  readonly kind: 'time' | 'mark' | 'text'
}

const stamp =
  /^(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?|\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\[?\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d(?: [+-]\d{4})?\]?|\d\d:\d\d:\d\d)/
const letter = /[\w.:-]/

/** A line in its parts: the time that it begins with, and each of the words where it stands by itself. */
export const partsOfLine = (line: string, words: readonly string[]): readonly LinePart[] => {
  const time = stamp.exec(line)?.[0] ?? ''
  const parts: LinePart[] = time === '' ? [] : [{ text: time, kind: 'time' }]
  const text = line.slice(time.length)
  const searchWords = words.filter(word => word.length > 1)
  let plain = 0
  let index = 0
  while (index < text.length) {
    const word = letter.test(text[index - 1] ?? '')
      ? undefined
      : searchWords.find(one => text.startsWith(one, index) && !/\w/.test(text[index + one.length] ?? ''))
    if (word === undefined) {
      index++
      continue
    }
    if (index > plain) parts.push({ text: text.slice(plain, index), kind: 'text' })
    parts.push({ text: word, kind: 'mark' })
    index += word.length
    plain = index
  }
  if (plain < text.length) parts.push({ text: text.slice(plain), kind: 'text' })
  return parts
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
/** The moment that a line begins with, in some zone: only its distance to other lines of the same log counts. */
const momentOf = (line: string): number | null => {
  const syslog = /^([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d)/.exec(line)
  if (syslog) {
    const [, month = '', day, hour, minute, second] = syslog
    const index = months.indexOf(month)
    return index < 0 ? null : Date.UTC(2000, index, Number(day), Number(hour), Number(minute), Number(second))
  }
  const iso = /(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)/.exec(line.slice(0, 40))
  if (iso) {
    const [year = 0, month = 1, day, hour, minute, second] = iso.slice(1).map(Number)
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
  const common = /(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d):(\d\d):(\d\d)/.exec(line)
  if (!common) return null
  const [, day, month = '', year, hour, minute, second] = common
  return Date.UTC(Number(year), months.indexOf(month), Number(day), Number(hour), Number(minute), Number(second))
}

/**
 * When the attempts of a ban were made. Logs rarely name their zone, so the last line counts as the moment of the ban and
 * the others by their distance to it. Nothing where they do not fit within a day before it.
 */
export const attemptsOf = (lines: string, bannedAt: number): readonly number[] => {
  const moments = lines.split('\n').flatMap(line => momentOf(line.trim()) ?? [])
  const last = Math.max(...moments)
  return moments.map(moment => bannedAt - (last - moment)).filter(moment => bannedAt - moment <= 86_400_000)
}
