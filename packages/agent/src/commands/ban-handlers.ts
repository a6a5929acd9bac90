import type { Ledger } from '../bans/ledger.ts'
import { placeKey } from '../bans/memory.ts'
import type { Memory } from '../bans/memory.ts'
import type { Overrides } from '../bans/overrides.ts'
import { EngineDown } from '../engine/engine.ts'
import type { Engine } from '../engine/engine.ts'
import { ownJail } from '../engine/own-files.ts'
import { whyNotRange } from '../engine/ranges.ts'
import { isCidr } from '../ip.ts'
import { runProgram } from '../process.ts'
import type { Guard } from './guard.ts'
import type { HandlerParams, Handlers } from './params.ts'
import { Refused } from './refused.ts'
import type { ShieldOrders } from './shield-orders.ts'

const defaultBanSeconds = 86_400
/** The jails of a fail2ban that has just answered for the first time are there after so long, in milliseconds. */
const jailsStart = 10_000

/** The handlers of `ban-ip` and `unban-ip`. */
export const createBanHandlers = (needs: {
  engine: Engine
  ledger: Ledger
  memory: Memory
  overrides: Overrides
  guard: Guard
  shield: ShieldOrders
  /** Keeps an unban for the time when fail2ban runs again. Returns the output of the command. */
  unbanLater: (jail: string | null, ip: string) => string
  drain: () => Promise<void>
  save: () => void
  ensureOwnJail: () => Promise<boolean>
  nft: readonly string[]
  now: () => number
}): Pick<Handlers, 'ban-ip' | 'unban-ip'> => {
  const { engine, ledger, memory, overrides } = needs

  const banIp = async (
    { jail, ip, duration, force, cut }: HandlerParams['ban-ip'],
    commandId: string,
  ): Promise<string> => {
    if (jail === ownJail && needs.shield.isUsed())
      return needs.shield.ban(ip, duration ?? defaultBanSeconds, commandId, force === true, cut === true)
    return banInEngine(jail, ip, duration ?? (jail === ownJail ? defaultBanSeconds : null), commandId)
  }

  const banInEngine = async (jail: string, ip: string, duration: number | null, commandId: string): Promise<string> => {
    const danger = await needs.guard.whyNotBan(ip)
    if (danger !== null) throw new Refused(`${danger}; nothing was done`)
    const unable = isCidr(ip) ? whyNotRange(ip, engine.version()) : null
    if (unable !== null) throw new Refused(unable)
    if (jail === ownJail) await needs.ensureOwnJail()
    await mustRunSoon(engine, jail)
    const { bantime } = await engine.thresholds(jail)
    await needs.drain().catch(() => undefined)

    const place = placeKey(jail, ip)
    const was = await engine.isBanned(jail, ip)
    const until = duration === null || duration < 0 ? null : needs.now() + duration * 1000
    if (duration !== null && duration !== bantime) overrides.set(jail, ip, until)
    else overrides.drop(jail, ip)
    if (!was) memory.intents.set(place, { jail, ip, since: needs.now(), commandId, duration })
    needs.save()
    await banSurely(jail, ip).catch((error: unknown) => {
      memory.intents.delete(place)
      if (!was) overrides.drop(jail, ip)
      throw error
    })
    await needs.drain().catch(() => undefined)
    if (!was) await checkFirewall(jail, ip)
    const length = duration ?? bantime
    const end = length < 0 ? 'for good' : `until ${new Date(needs.now() + length * 1000).toISOString()}`
    return was ? `${ip} was banned in ${jail} before; it stays so ${end}` : `${ip} is banned in ${jail} ${end}`
  }

  /** @throws Error unless fail2ban lists the ban afterwards */
  const banSurely = async (jail: string, ip: string): Promise<void> => {
    await engine.ban(jail, ip)
    if (!(await engine.isBanned(jail, ip)))
      throw new Refused(`fail2ban took the order, but ${ip} is not banned in ${jail}`)
  }

  /** fail2ban shows a failed firewall action only in its log, so the sets are read. */
  const checkFirewall = async (jail: string, ip: string): Promise<void> => {
    const actions = await engine.actions(jail)
    if (!actions.some(name => name.startsWith('nftables'))) return
    for (let tries = 0; tries < 15; tries += 1) {
      const listed = await runProgram([...needs.nft, 'list', 'ruleset'], { timeout: 20_000 })
      if (listed.code !== 0) return
      if (new RegExp(`(?<![0-9a-f:.])${ip.replace(/[.]/g, '\\.')}(?![0-9a-f:./])`).test(listed.stdout)) return
      await new Promise(resolve => setTimeout(resolve, 200))
    }
    throw new Refused(
      `fail2ban lists ${ip} as banned in ${jail}, but no nftables set holds it: its firewall action failed, see fail2ban's log`,
    )
  }

  const unbanIp = async (params: HandlerParams['unban-ip']): Promise<string> => {
    const { ip } = params
    const jail = params.jail === '*' ? null : params.jail
    // First the shield, which needs no fail2ban.
    const wasShielded = (jail === null || jail === ownJail) && (await needs.shield.lift(ip))
    try {
      return await unbanInEngine(ip, jail, wasShielded)
    } catch (error) {
      const isHeldByJail = ledger.activeOf(ip, jail).length > 0
      if (error instanceof EngineDown && (isHeldByJail || !wasShielded)) return needs.unbanLater(jail, ip)
      if (!wasShielded || isHeldByJail) throw error
      return `${ip} is no longer banned${needs.shield.stillCovered(ip)}`
    }
  }

  const unbanInEngine = async (ip: string, jail: string | null, wasShielded: boolean): Promise<string> => {
    // An unban deletes rows of fail2ban's table, so they must have been read before.
    await needs.drain().catch(() => undefined)
    if (jail !== null) await mustRun(engine, jail)
    const lifted = jail === null ? await engine.unbanEverywhere(ip) : await engine.unban(jail, ip)
    overrides.drop(jail, ip)
    for (const ban of ledger.activeOf(ip, jail)) ledger.ended(ban.jail, ban.ip, needs.now())
    const count = lifted + (wasShielded ? 1 : 0)
    const more = needs.shield.stillCovered(ip)
    if (count === 0) return `${ip} was not banned ${jail === null ? 'in any jail' : `in ${jail}`}${more}`
    return jail === null
      ? `${ip} is no longer banned: lifted in ${count} ${count === 1 ? 'jail' : 'jails'}${more}`
      : `${ip} is no longer banned in ${jail}${more}`
  }

  return { 'ban-ip': banIp, 'unban-ip': unbanIp }
}

/** fail2ban answers before it has started its jails. The runner tries again while a jail may still come. */
const mustRunSoon = async (engine: Engine, jail: string): Promise<void> => {
  const isStarting = (engine.connectedFor() ?? 0) < jailsStart
  if (isStarting && !(await engine.jails()).includes(jail))
    throw new EngineDown(`jail ${jail} is not running on this host: fail2ban has just started`)
  await mustRun(engine, jail)
}
const mustRun = async (engine: Engine, jail: string): Promise<void> => {
  if (!(await engine.jails()).includes(jail)) throw new Refused(`jail ${jail} is not running on this host`)
}
