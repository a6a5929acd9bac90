import { bounds } from '@stockade/contract/limits.ts'
import { isJailName } from '@stockade/contract/names.ts'
import type { Ledger } from '../bans/ledger.ts'
import { placeKey } from '../bans/memory.ts'
import type { Memory } from '../bans/memory.ts'
import type { Overrides } from '../bans/overrides.ts'
import { faultsOf } from '../engine/config.ts'
import type { EngineConfig } from '../engine/config.ts'
import { EngineDown } from '../engine/engine.ts'
import type { Engine } from '../engine/engine.ts'
import type { JailLoader } from '../engine/jail-loader.ts'
import { jailStateFile, ownJail } from '../engine/own-files.ts'
import type { Pickled } from '../engine/pickle.ts'
import { canonicalIp, isCidr } from '../ip.ts'
import { asFields, asText } from '../json.ts'
import { runProgram, withoutNoise } from '../process.ts'
import type { Templates } from '../templates/templates.ts'
import type { Command } from '../wire.ts'
import type { Guard } from './guard.ts'
import { Refused } from './refused.ts'
import type { ShieldOrders } from './shield-orders.ts'

export type Orders = Readonly<Record<string, (command: Command) => Promise<string>>>

/** How fail2ban is restarted. `client` starts the daemon from here, so it is only for hosts without an init system. */
export type ServiceKind = 'systemd' | 'openrc' | 'client'

const defaultBanSeconds = 86_400
const restartTimeout = 180_000

/** The handlers of all commands, by type. Each returns the output, or throws. */
export const createOrders = (needs: {
  engine: Engine
  config: EngineConfig
  loader: JailLoader
  ledger: Ledger
  memory: Memory
  overrides: Overrides
  guard: Guard
  shield: ShieldOrders
  /** Keeps an unban for the time when fail2ban runs again. Answers the output of the command. */
  unbanLater: (jail: string | null, ip: string) => string
  templates: Templates
  drain: () => Promise<void>
  save: () => void
  ensureOwnJail: () => Promise<boolean>
  settle: () => Promise<void>
  unsettled: () => void
  client: readonly string[]
  service: ServiceKind
  nft: readonly string[]
  now: () => number
}): Orders => {
  const { engine, config, loader, ledger, memory, overrides } = needs

  const banIp = async (command: Command): Promise<string> => {
    const jail = command.params['jail'] === undefined ? ownJail : jailOf(command)
    const ip = ipOf(command)
    const asked = durationOf(command)
    const duration = asked === null && jail === ownJail ? defaultBanSeconds : asked
    if (jail === ownJail && needs.shield.isUsed())
      return needs.shield.ban(ip, duration ?? defaultBanSeconds, command.id, command.params['force'] === true)
    const danger = await needs.guard.whyNotBan(ip)
    if (danger !== null) throw new Refused(`${danger}; nothing was done`)
    if (isCidr(ip)) checkRange(ip, engine.version())
    if (jail === ownJail) await needs.ensureOwnJail()
    await mustRun(jail)
    const { bantime } = await engine.thresholds(jail)
    await needs.drain().catch(() => undefined)

    const place = placeKey(jail, ip)
    const was = await engine.isBanned(jail, ip)
    const until = duration === null || duration < 0 ? null : needs.now() + duration * 1000
    if (duration !== null && duration !== bantime) overrides.set(jail, ip, until)
    else overrides.drop(jail, ip)
    if (!was) memory.intents.set(place, { jail, ip, since: needs.now(), commandId: command.id, duration })
    needs.save()
    try {
      await engine.ban(jail, ip)
      if (!(await engine.isBanned(jail, ip)))
        throw new Refused(`fail2ban took the order, but ${ip} is not banned in ${jail}`)
    } catch (error) {
      memory.intents.delete(place)
      if (!was) overrides.drop(jail, ip)
      throw error
    }
    await needs.drain().catch(() => undefined)
    if (!was) await checkFirewall(jail, ip)
    const length = duration ?? bantime
    const end = length < 0 ? 'for good' : `until ${new Date(needs.now() + length * 1000).toISOString()}`
    return was ? `${ip} was banned in ${jail} before; it stays so ${end}` : `${ip} is banned in ${jail} ${end}`
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

  const unbanIp = async (command: Command): Promise<string> => {
    const ip = ipOf(command)
    const jail = command.params['jail'] === undefined || command.params['jail'] === '*' ? null : jailOf(command)
    // First the shield, which needs no fail2ban.
    const wasShielded = (jail === null || jail === ownJail) && (await needs.shield.lift(ip))
    try {
      return await unbanInEngine(ip, jail, wasShielded)
    } catch (error) {
      const isHeldByJail = ledger.allActive().some(ban => ban.ip === ip && (jail === null || ban.jail === jail))
      if (error instanceof EngineDown && (isHeldByJail || !wasShielded)) return needs.unbanLater(jail, ip)
      if (!wasShielded || isHeldByJail) throw error
      return `${ip} is no longer banned${needs.shield.stillCovered(ip)}`
    }
  }

  const unbanInEngine = async (ip: string, jail: string | null, wasShielded: boolean): Promise<string> => {
    // An unban deletes rows of fail2ban's table, so they must have been read before.
    await needs.drain().catch(() => undefined)
    if (jail !== null) await mustRun(jail)
    const lifted = jail === null ? await engine.unbanEverywhere(ip) : await engine.unban(jail, ip)
    overrides.drop(jail, ip)
    for (const ban of ledger.allActive()) {
      if (ban.ip === ip && (jail === null || ban.jail === jail)) ledger.ended(ban.jail, ban.ip, needs.now())
    }
    const count = lifted + (wasShielded ? 1 : 0)
    const more = needs.shield.stillCovered(ip)
    if (count === 0) return `${ip} was not banned ${jail === null ? 'in any jail' : `in ${jail}`}${more}`
    return jail === null
      ? `${ip} is no longer banned: lifted in ${count} ${count === 1 ? 'jail' : 'jails'}${more}`
      : `${ip} is no longer banned in ${jail}${more}`
  }

  const jailStatus = async (command: Command): Promise<string> => {
    const jail = jailOf(command)
    const configured = (await config.jails()).find(({ name }) => name === jail)
    const running = (await engine.jails()).includes(jail)
    if (!running && !configured) throw new Refused(`there is no jail ${jail} on this host`)
    const status = running ? statusFields(await engine.status(jail)) : {}
    const thresholds = running ? await engine.thresholds(jail) : {}
    return JSON.stringify({ ...configured, name: jail, enabled: running, ...thresholds, ...status }, null, 2)
  }

  const jailEnable = async (command: Command): Promise<string> => {
    const jail = jailOf(command)
    await loader.start(jail, [jailStateFile(config.directory, jail, true)])
    await needs.settle()
    return `${jail} is enabled and running`
  }

  const jailDisable = async (command: Command): Promise<string> => {
    const jail = jailOf(command)
    await needs.drain().catch(() => undefined)
    await loader.stop(jail, [jailStateFile(config.directory, jail, false)])
    return `${jail} is disabled; its bans have left the firewall`
  }

  const jailReload = async (command: Command): Promise<string> => {
    const jail = jailOf(command)
    mustBeSound(faultsOf(await config.check([jail])))
    if (!(await engine.jails()).includes(jail)) {
      await loader.start(jail, [])
      await needs.settle()
      return `${jail} was not running; it runs now`
    }
    needs.unsettled()
    const ran = await runProgram([...needs.client, 'reload', jail], { timeout: 60_000 })
    if (ran.code !== 0)
      throw new Refused(`reload of ${jail} failed: ${withoutNoise(`${ran.stdout}\n${ran.stderr}`)}`, ran.code)
    await needs.settle()
    return `${jail} is reloaded`
  }

  const reloadAll = async (): Promise<string> => {
    await engine.ping()
    mustBeSound(faultsOf(await config.check(null)))
    needs.unsettled()
    const ran = await runProgram([...needs.client, 'reload'], { timeout: 180_000 })
    if (ran.code !== 0) throw new Refused(`reload failed: ${withoutNoise(`${ran.stdout}\n${ran.stderr}`)}`, ran.code)
    await needs.settle()
    return `all is reloaded; running: ${(await engine.jails()).join(', ')}`
  }

  const serviceRestart = async (): Promise<string> => {
    const check = await config.check(null)
    mustBeSound(faultsOf(check))
    const expected = [...check.jails.keys()]
    await needs.drain().catch(() => undefined)
    needs.unsettled()
    const restart = {
      systemd: ['systemctl', 'restart', 'fail2ban'],
      openrc: ['rc-service', 'fail2ban', 'restart'],
      client: [...needs.client, 'restart'],
    }[needs.service]
    const ran = await runProgram(restart, { timeout: restartTimeout })
    if (ran.code !== 0) throw new Refused(`restart failed: ${withoutNoise(`${ran.stdout}\n${ran.stderr}`)}`, ran.code)
    const deadline = needs.now() + restartTimeout
    let running: string[] = []
    while (needs.now() < deadline) {
      running = await engine.jails().catch(() => [])
      if (expected.every(jail => running.includes(jail))) {
        await needs.settle()
        return `fail2ban is restarted; running: ${running.join(', ')}`
      }
      await new Promise(resolve => setTimeout(resolve, 300))
    }
    const absent = expected.filter(jail => !running.includes(jail))
    throw new Refused(`fail2ban was restarted, but these jails did not come back within 180 s: ${absent.join(', ')}`)
  }

  const mustRun = async (jail: string): Promise<void> => {
    if (!(await engine.jails()).includes(jail)) throw new Refused(`jail ${jail} is not running on this host`)
  }

  const deployTemplate = async (command: Command): Promise<string> => {
    if (command.params['template'] === undefined)
      throw new Refused('the order came without its template: nothing was done')
    const said = await needs.templates.deploy(command.params['template'])
    await needs.settle()
    return said
  }

  const removeTemplate = async (command: Command): Promise<string> => {
    const said = await needs.templates.remove(command.params['template_name'])
    await needs.settle()
    return said
  }

  return {
    'ban-ip': banIp,
    'unban-ip': unbanIp,
    'jail-status': jailStatus,
    'jail-enable': jailEnable,
    'jail-disable': jailDisable,
    'jail-reload': jailReload,
    'reload-all': reloadAll,
    'service-restart': serviceRestart,
    'deploy-template': deployTemplate,
    'remove-template': removeTemplate,
  }
}

/**
 * The lane of a command: its jail, or null when it concerns all of fail2ban. Bans of the shield do not wait for each
 * other, because the order of commands only counts for the same address.
 */
export const laneOf = (command: Command, isShieldUsed: boolean): string | null => {
  if (command.type === 'self-test') return 'self-test'
  const jail = command.params['jail'] ?? templateOf(command)
  const isShieldBan = isShieldUsed && /^(un)?ban-ip$/.test(command.type)
  if (isShieldBan && (jail === ownJail || (jail === undefined && command.type === 'ban-ip')))
    return `${ownJail} ${canonicalIp(asText(command.params['ip'])) ?? ''}`
  if (command.type === 'ban-ip' && jail === undefined) return ownJail
  return typeof jail === 'string' && jail !== '*' ? jail : null
}

/** The name of a template, which is also the name of its jail. */
const templateOf = (command: Command): unknown => {
  if (command.type === 'remove-template') return command.params['template_name']
  return command.type === 'deploy-template' ? asFields(command.params['template'])['name'] : undefined
}

export const refusalText = (error: unknown): { output: string; code: number } => {
  if (error instanceof Refused) return { output: error.message, code: error.code }
  if (error instanceof EngineDown)
    return { output: `fail2ban is not running or does not answer: ${error.message}`, code: 1 }
  return { output: error instanceof Error ? error.message : String(error), code: 1 }
}

const jailOf = (command: Command): string => {
  const { jail } = command.params
  if (!isJailName(jail)) throw new Refused('"jail" must be the name of a jail')
  return jail
}

const ipOf = (command: Command): string => {
  const ip = canonicalIp(asText(command.params['ip']))
  if (ip === null) throw new Refused('"ip" must be an IP address')
  return ip
}

const durationOf = (command: Command): number | null => {
  const duration = command.params['duration']
  if (duration === undefined || duration === null) return null
  const whole = typeof duration === 'number' && Number.isInteger(duration) ? duration : 0
  if (whole !== -1 && (whole < 1 || whole > bounds.seconds))
    throw new Refused(`"duration" must be -1 or 1 to ${bounds.seconds} seconds`)
  return whole
}

/** Before 1.1.1 the firewall sets hold no ranges: the firewall refuses them although fail2ban reports them as banned. */
const checkRange = (range: string, version: string | null): void => {
  const [major = 0, minor = 0, patch = 0] = (version ?? '').split('.').map(part => parseInt(part, 10))
  const able = major > 1 || (major === 1 && (minor > 1 || (minor === 1 && patch >= 1)))
  if (!able) throw new Refused(`fail2ban ${version ?? ''} cannot ban ranges; 1.1.1 or newer can`)
  const least = range.includes(':') ? 32 : 16
  if (Number(range.split('/')[1]) < least) throw new Refused(`the range is too wide: /${least} at most`)
}

const mustBeSound = (faults: readonly string[]): void => {
  if (faults.length > 0)
    throw new Refused(`nothing was done, since the configuration has errors:\n${faults.join('\n')}`)
}

const statusFields = (status: Pickled): Record<string, Pickled> => {
  const fields: Record<string, Pickled> = {}
  const walk = (value: Pickled): void => {
    if (!Array.isArray(value)) return
    const [name, inner] = value as readonly Pickled[]
    if (typeof name !== 'string' || value.length !== 2) return (value as readonly Pickled[]).forEach(walk)
    if (Array.isArray(inner) && inner.some(item => Array.isArray(item))) inner.forEach(item => walk(item as Pickled))
    else fields[name.toLowerCase().replace(/ /g, '_')] = inner ?? null
  }
  walk(status)
  return fields
}
