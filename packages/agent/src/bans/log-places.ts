import type { Engine } from '../engine/engine.ts'

const placesKnownFor = 5000

export interface LogPlaces {
  /** Asks fail2ban where the logs of these jails are. */
  learnAll(jails: Iterable<string>): Promise<void>
  /** A jail that reads the journal has no files. */
  tells(jail: string): boolean
}

/**
 * Decides whether a jail's log lines may be reported: only if each of its logs, with links resolved, lies where the host's
 * policy allows. If the logs are unknown, no lines are reported.
 */
export const createLogPlaces = (needs: {
  engine: Pick<Engine, 'logpath'>
  allows: (path: string) => boolean
  now: () => number
}): LogPlaces => {
  /** The files, not the decision, so that a changed policy applies at once. */
  const known = new Map<string, { readonly at: number; readonly files: readonly string[] }>()

  const learn = async (jail: string): Promise<void> => {
    const before = known.get(jail)
    if (before && needs.now() - before.at < placesKnownFor) return
    try {
      known.set(jail, { at: needs.now(), files: await needs.engine.logpath(jail) })
    } catch {
      // fail2ban does not answer, or the jail has ended: keep the files that were known.
    }
  }

  return {
    async learnAll(jails: Iterable<string>): Promise<void> {
      for (const jail of new Set(jails)) await learn(jail)
    },
    tells: (jail: string): boolean => known.get(jail)?.files.every(needs.allows) ?? false,
  }
}
