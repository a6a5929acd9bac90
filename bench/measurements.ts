import type { Load, Measured } from './load.ts'
import { lineOf } from './report.ts'
import type { Line } from './report.ts'

/** What was measured in a run of the bench, by name. */
export interface Measurements {
  add(name: string, measured: Measured): void
  of(name: string): readonly Measured[]
  all(): readonly Measured[]
  /** Medians over all measurements of this name; `shown`: under which name the line is printed. */
  line(name: string, shown?: string): Line
}
/** Applies a load and keeps what came out under a name. */
export type Note = (name: string, load: Load) => Promise<void>

export const createMeasurements = (): Measurements => {
  const byName = new Map<string, Measured[]>()
  const of = (name: string): readonly Measured[] => byName.get(name) ?? []
  return {
    add: (name, measured) => void byName.set(name, [...of(name), measured]),
    of,
    all: () => [...byName.values()].flat(),
    line: (name, shown = name) => lineOf(shown, of(name)),
  }
}
