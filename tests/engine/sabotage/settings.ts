import * as fs from 'node:fs'
import { join } from 'node:path'
import { installedEngine, type EngineFiles } from '../host-config.ts'
import { loudly } from '../host.ts'
import { bareKind, bareRoot, firewallKinds, type FirewallKind } from './firewalls.ts'

export interface Setting {
  readonly engine: EngineFiles
  readonly firewall: FirewallKind
  /** Every case, with the rights of the agent's unit. */
  readonly isWhole: boolean
  /** Multiplies the intervals of the checks. */
  readonly pace: string
}

/** Other versions of fail2ban, unpacked by `npm run check -- sabotage`. */
export const unpackedEngines = (): EngineFiles[] => {
  const directory = process.env['STOCKADE_ENGINES'] ?? ''
  return ['0.11.2', '1.1.0'].flatMap(version => {
    const root = join(directory, version)
    if (directory !== '' && fs.existsSync(join(root, 'usr/bin/fail2ban-server')))
      return [{ version, bin: join(root, 'usr/bin'), config: join(root, 'etc/fail2ban') }]
    loudly(`SKIPPED: sabotage of fail2ban ${version}: it is not unpacked`)
    return []
  })
}

const named =
  (variable: string) =>
  (name: string): boolean => {
    const wanted = process.env[variable] ?? ''
    return wanted === '' || wanted.split(',').includes(name)
  }

/**
 * The short setting is a part of `npm test`. `npm run check -- sabotage` takes every fail2ban with every firewall; SABOTAGE_ENGINES and
 * SABOTAGE_FIREWALLS name some of them, separated by commas, SABOTAGE_PACE=1 waits as an agent does on a real host.
 */
export const settings = (): Setting[] => {
  if (process.env['STOCKADE_SABOTAGE'] !== 'whole')
    return [{ engine: installedEngine, firewall: firewallKinds.nftables, isWhole: false, pace: '0.03' }]
  const engines = [installedEngine, ...unpackedEngines()].filter(({ version }) => named('SABOTAGE_ENGINES')(version))
  const firewalls = Object.entries(firewallKinds).filter(([name]) => named('SABOTAGE_FIREWALLS')(name))
  const pace = process.env['SABOTAGE_PACE'] ?? '0.03'
  const all = engines.flatMap(engine => firewalls.map(([, firewall]) => ({ engine, firewall, isWhole: true, pace })))
  if (!named('SABOTAGE_FIREWALLS')('bare') || !engines.includes(installedEngine)) return all
  if (fs.existsSync(join(bareRoot, 'usr/bin/fail2ban-server')))
    return [...all, { engine: installedEngine, firewall: bareKind, isWhole: true, pace }]
  loudly('SKIPPED: sabotage of a Debian 12 without iptables: its root is not unpacked')
  return all
}
