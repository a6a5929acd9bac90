import { sharedAge } from '../../engine/engine.ts'
import type { Engine } from '../../engine/engine.ts'
import { ownJail } from '../../engine/own-files.ts'
import { canonicalIp } from '../../ip.ts'
import { publicShare } from '../../policy/share.ts'
import { bad, ok, warning } from '../model.ts'
import type { Check, Finding } from '../model.ts'

/** A jail that ignores a larger share of the public addresses of one family than this protects hardly anybody. */
const mostIgnored = 1 / 2
/** Bans that end sooner, in seconds, stop no attack. */
const leastBantime = 10
/** Reading a long list costs fail2ban and the agent time, so a longer one is read again only after a while. */
const longList = 2000
const longListEvery = 600_000

interface Judgement {
  readonly finding: Finding
  readonly entries: number
  readonly at: number
}

/** Whether the settings of a jail make it useless: it ignores nearly everybody, or its bans end at once. */
export const ignoreCheck = (needs: {
  engine: Pick<Engine, 'jails' | 'ignored' | 'bantime'>
  now: () => number
}): Check => {
  const { engine, now } = needs
  let judged = new Map<string, Judgement>()

  const judge = async (jail: string): Promise<Judgement> => {
    const ranges = await engine.ignored(jail)
    const bantime = await engine.bantime(jail)
    const addresses = ranges.flatMap(range => canonicalIp(range) ?? [])
    const share = publicShare(addresses)
    return { finding: findingOf(jail, share, bantime), entries: ranges.length, at: now() }
  }
  return {
    id: 'ignore',
    every: 30_000,
    badAfter: 0,
    looks: 1,
    needsEngine: true,
    async look() {
      const next = new Map<string, Judgement>()
      for (const jail of await engine.jails(sharedAge)) {
        if (jail === ownJail) continue
        const before = judged.get(jail)
        const isRecent = before && before.entries > longList && now() - before.at < longListEvery
        next.set(jail, isRecent ? before : await judge(jail))
      }
      judged = next
      return [...next.values()].map(({ finding }) => finding)
    },
  }
}

const findingOf = (jail: string, share: number, bantime: number): Finding => {
  const percent = Math.floor(share * 100)
  if (share === 1) return bad(jail, `jail ${jail} bans nobody: its ignoreip covers every public address`)
  if (share > mostIgnored)
    return bad(jail, `jail ${jail} bans hardly anybody: its ignoreip covers ${percent} % of the public addresses`)
  if (bantime >= 0 && bantime < leastBantime)
    return warning(jail, `bans of jail ${jail} last only ${bantime} s: its bantime is too short to stop an attack`)
  return ok(jail)
}
