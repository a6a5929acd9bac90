/** Each bucket is wider than the one before by this factor, so a percentile is at most 2 % too high. */
const growth = Math.log(1.02)
/** Milliseconds up to which all samples share a bucket. */
const smallest = 0.01

/** Samples by bucket, in a form that passes between processes. */
export interface HistogramData {
  readonly counts: Readonly<Record<string, number>>
  readonly most: number
}

/** Latencies in milliseconds. Those of several processes are added up bucket by bucket, so that percentiles are those of all samples. */
export class Histogram {
  readonly #counts = new Map<number, number>()
  #most = 0
  #total = 0

  add(milliseconds: number): void {
    const bucket = Math.max(0, Math.ceil(Math.log(milliseconds / smallest) / growth))
    this.#count(bucket, 1)
    this.#most = Math.max(this.#most, milliseconds)
  }
  merge({ counts, most }: HistogramData): void {
    for (const [bucket, count] of Object.entries(counts)) this.#count(Number(bucket), count)
    this.#most = Math.max(this.#most, most)
  }
  get total(): number {
    return this.#total
  }
  /** What so large a share of all samples does not exceed; not a number without samples. */
  at(share: number): number {
    let left = Math.max(1, Math.ceil(this.#total * share))
    for (const bucket of [...this.#counts.keys()].sort((a, b) => a - b)) {
      left -= this.#counts.get(bucket) ?? 0
      if (left <= 0) return Math.min(this.#most, smallest * Math.exp(bucket * growth))
    }
    return NaN
  }
  data(): HistogramData {
    return { counts: Object.fromEntries(this.#counts), most: this.#most }
  }
  #count(bucket: number, count: number): void {
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + count)
    this.#total += count
  }
}
