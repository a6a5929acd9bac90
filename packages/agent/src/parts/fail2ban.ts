import { hookFiles } from '../bans/hook.ts'
import { createEngineConfig } from '../engine/config.ts'
import type { EngineConfig } from '../engine/config.ts'
import { createEngine } from '../engine/engine.ts'
import { createJailLoader } from '../engine/jail-loader.ts'
import { readPlaces, unlessApart } from '../engine/places.ts'
import { createWhereabouts } from '../engine/whereabouts.ts'
import type { Options } from '../options.ts'
import { createInsideInterpreter } from '../python/inside.ts'
import { findInterpreter } from '../python/interpreter.ts'
import { checker, lister, probe as probeProgram } from '../python/programs.ts'
import { createProbes } from '../self-test/probe.ts'

/** Where fail2ban reads its configuration unless it is told another place. */
const usualConfig = '/etc/fail2ban'
const usualSocket = '/var/run/fail2ban/fail2ban.sock'

/** The way to fail2ban: its interpreter, its configuration and its socket. */
export const findFail2ban = async (options: Options, on: { up: () => void; down: () => void }) => {
  const python = findInterpreter(options.f2bServer)
  const { probe, probeAll } = createProbes(python, probeProgram)
  const map = readPlaces(options.config)
  const onHost = createEngineConfig({
    ...{ directory: options.f2bConfig, runDirectory: options.run },
    ...{ python, lister, checker },
  })
  const socketName = map.isMapped ? null : await onHost.socket().catch(() => null)
  const socketPath = options.f2bSocket ?? socketName ?? usualSocket
  const whereabouts = createWhereabouts({ socketPath, named: map.inside(socketPath), isMapped: map.isMapped })
  const places = map.isMapped ? map : unlessApart(whereabouts)
  const engine = createEngine({ socketPath, places, onUp: on.up, onDown: on.down })
  /** With fail2ban's classes. */
  const enginePython = map.isMapped
    ? createInsideInterpreter({ engine, action: hookFiles(options, places).inside })
    : python
  const files = map.isMapped
    ? createEngineConfig({
        ...{ directory: options.f2bConfig, runDirectory: options.run },
        directoryInside: map.inside(options.f2bConfig) ?? usualConfig,
        ...{ python: enginePython, lister, checker },
      })
    : onHost
  /** Those of this host are not those of a fail2ban in a container, and that one lists none without an action of ours. */
  const isUnlisted = (): boolean => (map.isMapped ? map.share === null : whereabouts.hasOtherPaths())
  const config: EngineConfig = { ...files, jails: () => (isUnlisted() ? Promise.resolve([]) : files.jails()) }
  const loader = createJailLoader({ engine, config, places })
  return { python, enginePython, config, probe, probeAll, socketPath, places, whereabouts, engine, loader }
}
