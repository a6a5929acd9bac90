import { steadyNow as defaultSteadyNow } from '../../clock.ts'
import type { EngineConfig } from '../../engine/config.ts'
import { sharedAge } from '../../engine/engine.ts'
import type { Engine } from '../../engine/engine.ts'
import { canonicalIp, isOwnGround } from '../../ip.ts'
import { collapse } from '../../whitelist/addresses.ts'
import { noLogins } from '../logins/logins.ts'
import type { LoginSource } from '../logins/logins.ts'
import { warning } from '../model.ts'
import type { Check, Finding } from '../model.ts'
import { Tally } from './filter-window.ts'
import type { Window, WindowFile } from './filter-window.ts'

/* Failed logins that the system logged and no jail counted: the filter of the jail no longer matches, or it reads another log. */

const filterName = 'sshd'
const day = 86_400_000
const every = 300_000
/** Fewer may be somebody who mistyped a password while the jail was looked at. */
const leastFailures = 5
/**
 * Whether the jails of SSH see the failed logins that the system itself recorded. They are judged together: each may have the log of another sshd. A
 * jail whose `ignorecommand`, `ignoreregex` or names in `ignoreip` may explain why it counted none is not judged.
 *
 * @param needs.pace the share of a day that counts as one
 */
export const filterCheck = (needs: {
  engine: Pick<Engine, 'jails' | 'counts' | 'abilities' | 'ignored' | 'connectedFor'>
  config: Pick<EngineConfig, 'jails'>
  sources: readonly LoginSource[]
  ownAddresses: () => readonly string[]
  /** Keeps the day across a restart of the agent. */
  file: WindowFile
  pace?: number
  steadyNow?: () => number
}): Check => {
  const { engine, sources } = needs
  const steadyNow = needs.steadyNow ?? defaultSteadyNow
  /** undefined: this process has not looked yet. */
  let window: Window | null | undefined

  const jailsOfSsh = async (): Promise<string[]> => {
    const configured = await needs.config.jails().catch(() => [])
    const names = new Set(configured.filter(({ filter }) => filter === filterName).map(({ name }) => name))
    return (await engine.jails(sharedAge)).filter(jail => names.has(jail))
  }

  const totalsOf = async (jails: readonly string[]): Promise<Map<string, number>> => {
    const totals = new Map<string, number>()
    for (const jail of jails) totals.set(jail, (await engine.counts(jail)).total_failed)
    return totals
  }

  /** Whom one of the jails ignores; null: fail2ban decides it in a way that the agent cannot follow. */
  const ignoredBy = async (jails: readonly string[]): Promise<((address: string) => boolean) | null> => {
    const ranges: string[] = [...needs.ownAddresses()]
    for (const jail of jails) {
      const { ignoreCommand, ignoreExpressions } = await engine.abilities(jail)
      const ignored = await engine.ignored(jail)
      const canonical = ignored.flatMap(entry => canonicalIp(entry) ?? [])
      if (ignoreCommand.trim() !== '' || ignoreExpressions > 0 || canonical.length < ignored.length) return null
      ranges.push(...canonical)
    }
    const addresses = collapse(ranges)
    return address => isOwnGround(address) || addresses.touches(address)
  }

  /** Whether the jails and fail2ban are the same as before, and none has counted anything. */
  const isSame = ({ watchedSince, totals: before, tallies }: Window, totals: ReadonlyMap<string, number>): boolean =>
    (engine.connectedFor() ?? 0) >= steadyNow() - watchedSince &&
    tallies.length === sources.length &&
    before.size === totals.size &&
    [...totals].every(([jail, total]) => before.get(jail) === total)

  const judge = ({ since, tallies }: Window, jails: readonly string[]): Finding[] => {
    const lasted = (steadyNow() - since) / (needs.pace ?? 1)
    const failures = Math.max(0, ...tallies.map(tally => tally.failures))
    return lasted < day || failures < leastFailures ? [] : [warning(jails.join(', '), textOf(failures, lasted, jails))]
  }

  return {
    id: 'filter',
    every,
    badAfter: 0,
    looks: 1,
    needsEngine: true,
    async look() {
      const jails = await jailsOfSsh()
      const totals = await totalsOf(jails)
      const news = await Promise.all(sources.map(read => read()))
      if (window === undefined) window = needs.file.read()
      if (window === null || !isSame(window, totals)) {
        const now = steadyNow()
        window = { since: now, watchedSince: now, totals, tallies: sources.map(() => new Tally()) }
        needs.file.write(window)
        return []
      }
      // What is new now may be on its way to fail2ban: it counts at the next look.
      const findings = judge(window, jails)
      if (jails.length > 0 && news.some(({ failed, accepted }) => failed.length + accepted.length > 0)) {
        const isIgnored = await ignoredBy(jails)
        if (isIgnored === null) window = null
        else window.tallies.forEach((tally, index) => tally.add(news[index] ?? noLogins, isIgnored))
      }
      needs.file.write(window)
      return window === null ? [] : findings
    },
    forget() {
      window = null
    },
  }
}

const textOf = (failures: number, lasted: number, jails: readonly string[]): string => {
  const days = Math.floor(lasted / day)
  const time = days < 2 ? 'since yesterday' : `in the last ${days} days`
  const [who, whose] =
    jails.length === 1 ? [`jail ${jails[0]}`, 'its filter'] : [`jails ${jails.join(', ')}`, 'their filter']
  return `${failures} failed logins of SSH were logged ${time}, ${who} saw none: ${whose} does not match what sshd writes, or it reads another log`
}
