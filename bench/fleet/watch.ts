import { say } from '../report.ts'
import { machineNow } from './messages.ts'
import type { Service } from './servers.ts'

/** What all server processes hold together. */
interface Sample {
  readonly at: number
  readonly megabytes: number
  readonly files: number
  readonly log: number
}

/** Memory and files of the servers over time: those of a soak must not rise. */
export const createWatch = (service: Service) => {
  const samples: Sample[] = []
  /** Megabytes by which memory rises in an hour, by least squares over the second half: the first is caches that fill. */
  const slope = (): number => {
    const later = samples.slice(samples.length >> 1)
    const mean = (of: (sample: Sample) => number) => later.reduce((sum, sample) => sum + of(sample), 0) / later.length
    const [at0, megabytes0] = [mean(({ at }) => at), mean(({ megabytes }) => megabytes)]
    const over = later.reduce((sum, { at, megabytes }) => sum + (at - at0) * (megabytes - megabytes0), 0)
    const under = later.reduce((sum, { at }) => sum + (at - at0) ** 2, 0)
    return under === 0 ? 0 : (over / under) * 3_600_000
  }
  /** Null while a server is away. */
  const look = (): Sample | null => {
    const held = service.held()
    if (!held) return null
    const sample = {
      at: machineNow(),
      megabytes: held.reduce((sum, { megabytes }) => sum + megabytes, 0),
      files: held.reduce((sum, { files }) => sum + files, 0),
      log: service.log(),
    }
    samples.push(sample)
    return sample
  }
  return {
    look,
    /** What each process holds now. */
    describe(moment: string): void {
      for (const [index, { megabytes, files }] of (service.held() ?? []).entries())
        say(`${moment} server process ${index + 1} held ${megabytes.toFixed(0)} MB and ${files} files`)
    },
    report(): void {
      const [first, last] = [samples[0], samples.at(-1)]
      if (!first || !last || samples.length <= 3) return
      const most = (of: (sample: Sample) => number) => Math.max(...samples.map(of))
      say(
        `the servers held ${first.megabytes.toFixed(0)} MB at first, ${most(({ megabytes }) => megabytes).toFixed(0)} MB at most, ${last.megabytes.toFixed(0)} MB at last; in the second half it rose by ${slope().toFixed(1)} MB an hour`,
      )
      say(
        `open files at most ${most(({ files }) => files)}, at last ${last.files}; write-ahead log at most ${most(({ log }) => log).toFixed(0)} MB`,
      )
    },
  }
}
export type Watch = ReturnType<typeof createWatch>
