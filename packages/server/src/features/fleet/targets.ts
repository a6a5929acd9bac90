import type { Principal } from '../../core/actor.ts'
import { sees } from '../../core/actor.ts'

/** Servers by number: all of them, those of the future too, or these. */
export type Targets = 'all' | ReadonlySet<number>

/** As it is stored: equal targets have equal texts. */
export const textOf = (targets: Targets): string =>
  targets === 'all' ? 'all' : JSON.stringify([...targets].sort((a, b) => a - b))
export const targetsOf = (text: string): Targets => (text === 'all' ? 'all' : new Set(JSON.parse(text) as number[]))

export const concerns = (targets: Targets, serverNo: number): boolean => targets === 'all' || targets.has(serverNo)
export const union = (a: Targets, b: Targets): Targets => (a === 'all' || b === 'all' ? 'all' : new Set([...a, ...b]))

/** Whether the caller sees at least one of the servers. */
export const isVisible = (actor: Pick<Principal, 'servers'>, targets: Targets): boolean =>
  actor.servers === 'all' || targets === 'all' || [...targets].some(no => sees(actor, no))
/** Whether the caller has access to all of the servers. Those that were deleted do not count. */
export const isWithin = (
  actor: Pick<Principal, 'servers'>,
  targets: Targets,
  exists: (serverNo: number) => boolean,
): boolean => actor.servers === 'all' || (targets !== 'all' && [...targets].every(no => sees(actor, no) || !exists(no)))
