import { createHash } from 'node:crypto'
import type { Fault } from './fault.ts'
import { areas } from './faults/index.ts'

/*
 * The faults of `--sample`. A hash orders them, so that each run takes the same ones, wherever they stand in the list, and a new fault
 * changes no more than its own area.
 */
const rankOf = ({ file, find }: Fault): string => createHash('sha256').update(`${file} ${find}`).digest('hex')
const firstOf = (faults: readonly Fault[], count: number): readonly Fault[] =>
  faults
    .map(fault => ({ fault, rank: rankOf(fault) }))
    .toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
    .slice(0, count)
    .map(({ fault }) => fault)
/** `packages/server/src/features/bans` of a file in it. */
const featureOf = ({ file }: Fault): string => file.split('/').slice(0, 5).join('/')
const byFeature = Map.groupBy(areas['features of the server'], featureOf)

export const sampleFaults: ReadonlySet<Fault> = new Set([
  ...[...byFeature.values()].flatMap(faults => firstOf(faults, 1)),
  ...firstOf(areas.agent, 15),
  ...firstOf(areas.dashboard, 10),
  ...firstOf(areas['contract, command line, client'], 5),
])
