import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'

/* What one durable write costs on this disk today: 4 KiB appended, then fdatasync. */

export interface Synced {
  readonly rate: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}
const [, , file = '', seconds = '1'] = process.argv
const handle = openSync(file, 'w')
const page = Buffer.alloc(4096, 1)
const times: number[] = []
const start = performance.now()
while (performance.now() - start < Number(seconds) * 1000) {
  const before = performance.now()
  writeSync(handle, page)
  fdatasyncSync(handle)
  times.push(performance.now() - before)
}
closeSync(handle)
rmSync(file)
times.sort((a, b) => a - b)
const synced: Synced = {
  rate: times.length / Number(seconds),
  p50: times[Math.floor(times.length * 0.5)] ?? 0,
  p99: times[Math.floor(times.length * 0.99)] ?? 0,
}
process.stdout.write(JSON.stringify(synced))
