import type { Engine } from '../engine/engine.ts'
import type { Places } from '../engine/places.ts'

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
  /** Judges a path of the agent. */
  allows: (path: string) => boolean
  places: Pick<Places, 'outside'>
  now: () => number
}): LogPlaces => {
  /** The files, not the decision, so that a changed policy applies at once. */
  const filesByJail = new Map<string, { readonly at: number; readonly files: readonly string[] }>()

  const isAllowed = (name: string): boolean => {
    const path = needs.places.outside(name)
    return path !== null && needs.allows(path)
  }

  const learn = async (jail: string): Promise<void> => {
    const before = filesByJail.get(jail)
    if (before && needs.now() - before.at < placesKnownFor) return
    try {
      filesByJail.set(jail, { at: needs.now(), files: await needs.engine.logpath(jail) })
    } catch {
      // fail2ban does not answer, or the jail has ended: keep the files that were known.
    }
  }

  return {
    async learnAll(jails: Iterable<string>): Promise<void> {
      for (const jail of new Set(jails)) await learn(jail)
    },
    tells: (jail: string): boolean => filesByJail.get(jail)?.files.every(isAllowed) ?? false,
  }
}
