import { EngineRefused, sharedAge } from '../engine/engine.ts'
import type { Engine } from '../engine/engine.ts'
import { canonicalIp, isCidr } from '../ip.ts'
import type { OwnIgnores } from './next-start.ts'

/** How many values fail2ban compares with each other in about a second. */
const maxComparisons = 4_000_000

export interface IgnoreOutcome {
  /** Values that fail2ban did not keep, each with a jail that lacks it. */
  readonly missing: ReadonlyMap<string, string>
  /** Whether anything had to be changed. */
  readonly isMended: boolean
  /** The jails whose ignore list lacked something. */
  readonly lackingJails: readonly string[]
}

/**
 * Brings the ignore list of every running jail in line and reads it back. `isRetired`: the agent may have added this
 * value, and it is no longer wanted. `readOwn` reads the administrator's values, null if that fails.
 */
export const holdEverywhere = async (
  engine: Pick<Engine, 'jails' | 'ignored' | 'ignore' | 'unignore'>,
  wanted: ReadonlySet<string>,
  isRetired: (value: string) => boolean,
  readOwn: () => Promise<OwnIgnores | null>,
): Promise<IgnoreOutcome> => {
  const missing = new Map<string, string>()
  const lackingJails: string[] = []
  let isMended = false
  for (const jail of await engine.jails(sharedAge)) {
    try {
      const holding = await holdIn(engine, jail, wanted, isRetired, readOwn)
      for (const value of holding.missing) missing.set(value, jail)
      isMended ||= holding.isMended
      if (holding.hasLacked) lackingJails.push(jail)
    } catch (error) {
      // A jail that was stopped in the meantime bans nobody; its list is mended when it comes back.
      if (!(error instanceof EngineRefused) || (await engine.jails()).includes(jail)) throw error
    }
  }
  return { missing, isMended, lackingJails }
}

const holdIn = async (
  engine: Pick<Engine, 'ignored' | 'ignore' | 'unignore'>,
  jail: string,
  wanted: ReadonlySet<string>,
  isRetired: (value: string) => boolean,
  readOwn: () => Promise<OwnIgnores | null>,
): Promise<{ missing: string[]; isMended: boolean; hasLacked: boolean }> => {
  const present = await engine.ignored(jail)
  const missing = lacking(wanted, present)
  const retired = present.filter(value => isRetired(canonicalOf(value)) && !wanted.has(canonicalOf(value)))
  // Reading the configuration takes longer than all else here, so only removals wait for it.
  const own = retired.length > 0 ? await readOwn() : null
  const ownValues = new Set((own?.get(jail) ?? []).map(canonicalOf))
  const surplus = own === null ? [] : retired.filter(value => !ownValues.has(canonicalOf(value)))
  const hasLacked = missing.length > 0
  if (!hasLacked && surplus.length === 0) return { missing, isMended: false, hasLacked }
  if (surplus.length > 0) await engine.unignore(jail, surplus)
  if (hasLacked) {
    const presentRanges = present.filter(value => wanted.has(value) && isCidr(value))
    await addAll(engine, jail, missing, presentRanges)
  }
  return { missing: lacking(wanted, await engine.ignored(jail)), isMended: true, hasLacked }
}

/**
 * fail2ban compares each new value with every range that it has. For many values our ranges step aside for the fraction
 * of a second that this then takes; a ban in that time is lifted.
 */
const addAll = async (
  engine: Pick<Engine, 'ignore' | 'unignore'>,
  jail: string,
  missing: readonly string[],
  ranges: readonly string[],
): Promise<void> => {
  if (missing.length * ranges.length < maxComparisons) return engine.ignore(jail, missing)
  await engine.unignore(jail, ranges)
  await engine.ignore(jail, [...missing, ...ranges])
}

const canonicalOf = (value: string): string => canonicalIp(value) ?? value

/** The wanted values that fail2ban does not have. */
const lacking = (wanted: ReadonlySet<string>, values: readonly string[]): string[] => {
  const present = new Set(values.map(value => (wanted.has(value) ? value : canonicalOf(value))))
  return [...wanted].filter(value => !present.has(value))
}
