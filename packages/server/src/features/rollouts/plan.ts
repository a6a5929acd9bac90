import { invalid } from '../../core/problem.ts'
import type { Server } from '../servers/registry.ts'
import { whyUnable } from './hosts.ts'
import { wavesOf } from './waves.ts'

const isReady = (server: Server): boolean => server.row.status === 'online' && whyUnable(server) === null
/** Version 7 ids begin with a time; their ends are random, so that servers made together go apart. */
const spread = (server: Server): string => [...server.row.id].reverse().join('')
export const planWaves = (chosen: readonly Server[], shares: readonly number[]) => {
  const sorted = chosen.toSorted((a, b) => (spread(a) < spread(b) ? -1 : 1))
  const nosOf = (list: readonly Server[]) => list.map(({ row }) => row.no)
  return wavesOf(nosOf(sorted.filter(isReady)), nosOf(sorted.filter(server => !isReady(server))), shares)
}
/** @throws Problem 400 for waves that do not rise to the whole */
export const checkShares = (shares: readonly number[]) => {
  const isRising = shares.every((share, index) => share > (shares[index - 1] ?? 0))
  if (!isRising || shares.at(-1) !== 100) throw invalid('waves', 'waves must rise and end with 100.')
}
