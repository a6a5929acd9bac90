import type { Fault } from '../fault.ts'
import { agent } from './agent.ts'
import { dashboard } from './dashboard.ts'
import { featuresAToF } from './features-a-to-f.ts'
import { featuresIToZ } from './features-i-to-z.ts'
import { foundations } from './foundations.ts'
import { others } from './others.ts'

/** The areas by name, and all that is planted in them. */
export const areas = {
  'features of the server': [...featuresAToF, ...featuresIToZ],
  'rest of the server': foundations,
  agent,
  dashboard,
  'contract, command line, client': others,
} as const satisfies Readonly<Record<string, readonly Fault[]>>

export const allFaults: readonly Fault[] = Object.values(areas).flat()
