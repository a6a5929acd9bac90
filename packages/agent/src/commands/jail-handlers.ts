import { faultsOf } from '../engine/config.ts'
import type { Check, EngineConfig } from '../engine/config.ts'
import type { Engine } from '../engine/engine.ts'
import type { JailLoader } from '../engine/jail-loader.ts'
import { jailStateFile } from '../engine/own-files.ts'
import type { Pickled } from '../engine/pickle.ts'
import { isList } from '../json.ts'
import { runProgram, withoutNoise } from '../process.ts'
import type { HandlerParams, Handlers } from './params.ts'
import { Refused } from './refused.ts'

type JailParams = HandlerParams['jail-status']

/** How fail2ban is restarted. `client` starts the daemon from here, so it is only for hosts without an init system. */
export type ServiceKind = 'systemd' | 'openrc' | 'client'

const restartTimeout = 180_000

/** The handlers of what concerns jails and all of fail2ban. */
export const createJailHandlers = (needs: {
  engine: Engine
  config: EngineConfig
  loader: JailLoader
  drain: () => Promise<void>
  settle: () => Promise<void>
  unsettled: () => void
  client: readonly string[]
  service: ServiceKind
  /** Who reads the configuration for a reload; null: nobody here can. `client` runs here, `agent` sends what fail2ban's own Python read. */
  reloader: () => 'client' | 'agent' | null
  /** It is the fail2ban of this server's init system. */
  isRestartable: () => boolean
  now: () => number
}): Pick<
  Handlers,
  'jail-status' | 'jail-enable' | 'jail-disable' | 'jail-reload' | 'reload-all' | 'service-restart'
> => {
  const { engine, config, loader } = needs

  const jailStatus = async ({ jail }: JailParams): Promise<string> => {
    const configured = (await config.jails()).find(({ name }) => name === jail)
    const running = (await engine.jails()).includes(jail)
    if (!running && !configured) throw new Refused(`there is no jail ${jail} on this host`)
    const status = running ? statusFields(await engine.status(jail)) : {}
    const thresholds = running ? await engine.thresholds(jail) : {}
    return JSON.stringify({ ...configured, name: jail, enabled: running, ...thresholds, ...status }, null, 2)
  }

  const jailEnable = async ({ jail }: JailParams): Promise<string> => {
    await loader.start(jail, [jailStateFile(config.directory, jail, true)])
    await needs.settle()
    return `${jail} is enabled and running`
  }

  const jailDisable = async ({ jail }: JailParams): Promise<string> => {
    await needs.drain().catch(() => undefined)
    await loader.stop(jail, [jailStateFile(config.directory, jail, false)])
    return `${jail} is disabled; its bans have left the firewall`
  }

  /** Null: all jails. Before it, the configuration was found sound. */
  const reload = async (jail: string | null, check: Check): Promise<void> => {
    const reloader = needs.reloader()
    mustBeHere(reloader !== null, 'reload')
    needs.unsettled()
    if (reloader === 'agent')
      return engine.reload(
        jail,
        [...check.jails.values()].flatMap(({ stream }) => stream),
      )
    const words = jail === null ? ['reload'] : ['reload', jail]
    const ran = await runProgram([...needs.client, ...words], { timeout: jail === null ? 180_000 : 60_000 })
    if (ran.code === 0) return
    const what = jail === null ? 'reload' : `reload of ${jail}`
    throw new Refused(`${what} failed: ${withoutNoise(`${ran.stdout}\n${ran.stderr}`)}`, ran.code)
  }

  const jailReload = async ({ jail }: JailParams): Promise<string> => {
    const check = await config.check([jail])
    mustBeSound(faultsOf(check))
    if (!(await engine.jails()).includes(jail)) {
      await loader.start(jail, [])
      await needs.settle()
      return `${jail} was not running; it runs now`
    }
    await reload(jail, check)
    await needs.settle()
    return `${jail} is reloaded`
  }

  const reloadAll = async (): Promise<string> => {
    mustBeHere(needs.reloader() !== null, 'reload')
    await engine.ping()
    const check = await config.check(null)
    mustBeSound(faultsOf(check))
    await reload(null, check)
    await needs.settle()
    return `all is reloaded; running: ${(await engine.jails()).join(', ')}`
  }

  const serviceRestart = async (): Promise<string> => {
    mustBeHere(needs.isRestartable(), 'restart')
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

  return {
    'jail-status': jailStatus,
    'jail-enable': jailEnable,
    'jail-disable': jailDisable,
    'jail-reload': jailReload,
    'reload-all': reloadAll,
    'service-restart': serviceRestart,
  }
}

const mustBeHere = (isHere: boolean, what: 'reload' | 'restart'): void => {
  const ways = {
    reload: 'run "fail2ban-client reload" in the container',
    restart: 'restart the container with the program that started it',
  }
  if (!isHere) throw new Refused(`nothing was done, since fail2ban runs in a container here: ${ways[what]}`)
}

const mustBeSound = (faults: readonly string[]): void => {
  if (faults.length > 0)
    throw new Refused(`nothing was done, since the configuration has errors:\n${faults.join('\n')}`)
}

const statusFields = (status: Pickled): Record<string, Pickled> => {
  const fields: Record<string, Pickled> = {}
  const walk = (value: Pickled): void => {
    if (!isList(value)) return
    const [name, inner] = value
    if (typeof name !== 'string' || value.length !== 2) return value.forEach(walk)
    if (isList(inner) && inner.some(isList)) inner.forEach(walk)
    else fields[name.toLowerCase().replace(/ /g, '_')] = inner ?? null
  }
  walk(status)
  return fields
}
