import type { Engine } from '../engine/engine.ts'

const KNOWN_FOR = 5000

/**
 * Whether lines that a jail found may be told to the server: only where each of its logs lies in a place that the host's
 * policy allows, once links are followed. What is not known is not told.
 */
export function createLogPlaces(needs: {
  engine: Pick<Engine, 'logpath'>
  allows: (path: string) => boolean
  now: () => number
}) {
  /** The files, not the verdict: a policy that changed holds at once. */
  const known = new Map<string, { readonly at: number; readonly files: readonly string[] }>()

  async function learn(jail: string): Promise<void> {
    const before = known.get(jail)
    if (before && needs.now() - before.at < KNOWN_FOR) return
    try {
      known.set(jail, { at: needs.now(), files: await needs.engine.logpath(jail) })
    } catch {
      // fail2ban does not answer, or the jail has ended: what was known of it still holds.
    }
  }

  return {
    /** Asks fail2ban where the logs of these jails are. */
    async learnAll(jails: Iterable<string>): Promise<void> {
      for (const jail of new Set(jails)) await learn(jail)
    },
    /** A jail that reads the journal has no files. */
    tells: (jail: string): boolean => known.get(jail)?.files.every(needs.allows) ?? false,
  }
}

export type LogPlaces = ReturnType<typeof createLogPlaces>
