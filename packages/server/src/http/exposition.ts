/*
 * The text of Prometheus and of OpenMetrics. Families write their own lines into one buffer, because a string of 9 MB that is joined and then
 * encoded costs five times as much CPU (`npm run bench -- metrics`).
 */

/** For whom, and how, the metrics are written. */
export interface Scrape {
  readonly isOpenMetrics: boolean
  readonly sees: (serverNo: number) => boolean
}
type Write = (text: string) => void
export interface MetricFamily {
  /** Of a counter with `_total`. */
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter' | 'histogram'
  /** Writes its samples, a line each, each line with its end. */
  readonly write: (write: Write, scrape: Scrape) => void
}
/** Values of the labels in their order, and the value of the sample. */
export type Sample = readonly [labels: readonly string[], value: number]

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }
const labelValue = (value: string) => value.replace(/[\\"\n]/g, character => escapes[character] ?? character)
/** `{name="value",…}`; empty without labels. */
export const labelsOf = (names: readonly string[], values: readonly string[]): string =>
  names.length === 0 ? '' : `{${names.map((name, place) => `${name}="${labelValue(values[place] ?? '')}"`).join(',')}}`

const special = new Map([
  [Infinity, '+Inf'],
  [-Infinity, '-Inf'],
])
const valueText = (value: number) => special.get(value) ?? String(value)
export const sampleLine = (name: string, labels: string, value: number): string =>
  `${name}${labels} ${valueText(value)}\n`
export const linesOf = (name: string, labels: readonly string[], samples: Iterable<Sample>): string => {
  let text = ''
  for (const [values, value] of samples) text += sampleLine(name, labelsOf(labels, values), value)
  return text
}

export const contentTypeOf = ({ isOpenMetrics }: Pick<Scrape, 'isOpenMetrics'>): string =>
  isOpenMetrics
    ? 'application/openmetrics-text; version=1.0.0; charset=utf-8'
    : 'text/plain; version=0.0.4; charset=utf-8'
/** Whether a request's Accept header prefers OpenMetrics, as Prometheus' does. */
export const asksForOpenMetrics = (accept: string | undefined): boolean =>
  /application\/openmetrics-text/.test(accept ?? '')

const helpText = (help: string) => help.replace(/[\\\n]/g, character => escapes[character] ?? character)
/** A buffer that grows; the next one begins as large as this one became. */
let lastLength = 65_536
const createPage = () => {
  let page = Buffer.allocUnsafe(lastLength)
  let length = 0
  return {
    write(text: string) {
      // UTF-8 needs three bytes at most for a unit of UTF-16.
      const most = length + text.length * 3
      if (most > page.length) page = Buffer.concat([page.subarray(0, length)], Math.max(most, page.length * 2))
      length += page.write(text, length)
    },
    end() {
      lastLength = Math.ceil(length * 1.1) + 4096
      return page.subarray(0, length)
    },
  }
}
/** All families, also those without samples: their names tell what there is. OpenMetrics names a counter's family without `_total`, and marks the end. */
export const expositionOf = (families: Iterable<MetricFamily>, scrape: Scrape): Buffer => {
  const page = createPage()
  for (const { name, help, type, write } of families) {
    const family = scrape.isOpenMetrics && type === 'counter' ? name.replace(/_total$/, '') : name
    page.write(`# HELP ${family} ${helpText(help)}\n# TYPE ${family} ${type}\n`)
    write(page.write, scrape)
  }
  if (scrape.isOpenMetrics) page.write('# EOF\n')
  return page.end()
}

interface Buckets {
  readonly counts: Float64Array
  sum: number
}
export interface Histogram {
  readonly family: MetricFamily
  /** Shows a series before its first observation. */
  begin(labels: readonly string[]): void
  observe(labels: readonly string[], value: number): void
}
/** @param bounds upper bounds in ascending order, without infinity */
export const createHistogram = (about: {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
  readonly bounds: readonly number[]
}): Histogram => {
  const { name, help, labels = [], bounds } = about
  const series = new Map<string, { readonly labels: readonly string[]; readonly buckets: Buckets }>()
  const seriesOf = (values: readonly string[]) => {
    const key = values.length === 1 ? (values[0] ?? '') : values.join('\0')
    let knownSeries = series.get(key)
    if (!knownSeries) {
      knownSeries = { labels: values, buckets: { counts: new Float64Array(bounds.length + 1), sum: 0 } }
      series.set(key, knownSeries)
    }
    return knownSeries.buckets
  }
  if (labels.length === 0) seriesOf([])
  const boundText = (bound: number, isOpenMetrics: boolean) =>
    isOpenMetrics && Number.isInteger(bound) ? `${bound}.0` : String(bound)
  return {
    begin: values => void seriesOf(values),
    observe(values, value) {
      const buckets = seriesOf(values)
      const place = bounds.findIndex(bound => value <= bound)
      const index = place === -1 ? bounds.length : place
      buckets.counts[index] = (buckets.counts[index] ?? 0) + 1
      buckets.sum += value
    },
    family: {
      name,
      help,
      type: 'histogram',
      write(write, { isOpenMetrics }) {
        for (const { labels: values, buckets } of series.values()) {
          const plain = labelsOf(labels, values)
          const le = [...labels, 'le']
          let count = 0
          for (const [index, bound] of bounds.entries()) {
            count += buckets.counts[index] ?? 0
            write(sampleLine(`${name}_bucket`, labelsOf(le, [...values, boundText(bound, isOpenMetrics)]), count))
          }
          count += buckets.counts[bounds.length] ?? 0
          write(sampleLine(`${name}_bucket`, labelsOf(le, [...values, '+Inf']), count))
          write(sampleLine(`${name}_sum`, plain, buckets.sum) + sampleLine(`${name}_count`, plain, count))
        }
      },
    },
  }
}
