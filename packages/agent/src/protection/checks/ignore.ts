import { actionName } from '../../bans/hook.ts'
import type { ConfiguredJail, EngineConfig } from '../../engine/config.ts'
import { sharedAge } from '../../engine/engine.ts'
import type { Engine, JailAbilities } from '../../engine/engine.ts'
import { ownJail } from '../../engine/own-files.ts'
import { canonicalIp } from '../../ip.ts'
import { publicShare } from '../../policy/share.ts'
import { bad, ok, warning } from '../model.ts'
import type { Check, Finding } from '../model.ts'

/** A jail that ignores a larger share of the public addresses of one family than this protects hardly anybody. */
const mostIgnored = 1 / 2
/** Bans that end sooner, in seconds, stop no attack. */
const leastBantime = 10
/** A jail that takes more attempts a second than this, or all of them within this time in seconds, sees hardly any attack. */
const mostAttemptsPerSecond = 10
const leastFindtime = 3
/** A program that ignores whomever it is asked about. */
const ignoresAll = /^\s*(?:(?:\/usr)?\/bin\/)?(?:true|:|exit 0)(?:\s|$)/
/** Reading a long list costs fail2ban and the agent time, so a longer one is read again only after a while. */
const longList = 2000
const longListEvery = 600_000

/** How large a part of the public addresses a jail ignores. */
interface Judged {
  readonly share: number
  readonly entries: number
  readonly at: number
}

/** Whether the settings of a jail, as they are now, make it useless: it ignores nearly everybody, finds nobody, or its bans end at once. */
export const ignoreCheck = (needs: {
  engine: Pick<Engine, 'jails' | 'ignored' | 'thresholds' | 'abilities'>
  config: Pick<EngineConfig, 'jails'>
  now: () => number
}): Check => {
  const { engine, now } = needs
  let judged = new Map<string, Judged>()

  const ignoredOf = async (jail: string): Promise<Judged> => {
    const before = judged.get(jail)
    if (before && before.entries > longList && now() - before.at < longListEvery) return before
    const ranges = await engine.ignored(jail)
    const addresses = ranges.flatMap(range => canonicalIp(range) ?? [])
    return { share: publicShare(addresses), entries: ranges.length, at: now() }
  }
  return {
    id: 'ignore',
    // It asks fail2ban seven questions for each jail.
    every: 40_000,
    badAfter: 0,
    looks: 1,
    needsEngine: true,
    async look() {
      const next = new Map<string, Judged>()
      const findings: Finding[] = []
      const configured = await needs.config.jails().catch(() => [])
      for (const jail of await engine.jails(sharedAge)) {
        if (jail === ownJail) continue
        const ignored = await ignoredOf(jail)
        next.set(jail, ignored)
        const own = configured.find(({ name }) => name === jail)
        findings.push(
          disabledOf(jail, await engine.abilities(jail), own) ??
            ignoredText(jail, ignored.share) ??
            thresholdText(jail, await engine.thresholds(jail)) ??
            ok(jail),
        )
      }
      judged = next
      return findings
    },
  }
}

/** What somebody took from a running jail, so that it bans nobody. */
const disabledOf = (
  jail: string,
  { ignoreCommand, expressions, actions }: JailAbilities,
  configured: ConfiguredJail | undefined,
): Finding | null => {
  if (expressions === 0) return bad(jail, `jail ${jail} bans nobody: its filter has no failregex`)
  if (ignoresAll.test(ignoreCommand))
    return bad(jail, `jail ${jail} bans nobody: its ignorecommand ${ignoreCommand.trim()} ignores everybody`)
  // A jail may have none on purpose, such as one that only counts.
  if (configured?.hasAction === true && actions.every(action => action === actionName))
    return bad(jail, `bans of jail ${jail} reach no firewall: it has lost its actions`)
  return null
}

const ignoredText = (jail: string, share: number): Finding | null => {
  const percent = Math.floor(share * 100)
  if (share === 1) return bad(jail, `jail ${jail} bans nobody: its ignoreip covers every public address`)
  return share > mostIgnored
    ? bad(jail, `jail ${jail} bans hardly anybody: its ignoreip covers ${percent} % of the public addresses`)
    : null
}

const thresholdText = (
  jail: string,
  { maxretry, findtime, bantime }: Awaited<ReturnType<Engine['thresholds']>>,
): Finding | null => {
  if (bantime >= 0 && bantime < leastBantime)
    return warning(jail, `bans of jail ${jail} last only ${bantime} s: its bantime is too short to stop an attack`)
  const isRare = maxretry > mostAttemptsPerSecond * findtime || (maxretry > 1 && findtime < leastFindtime)
  return isRare
    ? warning(jail, `jail ${jail} bans hardly anybody: it takes ${maxretry} attempts within ${findtime} s`)
    : null
}
