import { createEngineConfig } from '../engine/config.ts'
import type { EngineConfig } from '../engine/config.ts'
import { createEngine } from '../engine/engine.ts'
import { createJailLoader } from '../engine/jail-loader.ts'
import { readPlaces, unlessApart } from '../engine/places.ts'
import { createWhereabouts } from '../engine/whereabouts.ts'
import type { Options } from '../options.ts'
import { findInterpreter } from '../python/interpreter.ts'
import { checker, lister, probe as probeProgram } from '../python/programs.ts'
import { createProbes } from '../self-test/probe.ts'

/** The way to fail2ban: its interpreter, its configuration and its socket. */
export const findFail2ban = async (options: Options, on: { up: () => void; down: () => void }) => {
  const python = findInterpreter(options.f2bServer)
  const files = createEngineConfig({ directory: options.f2bConfig, python, lister, checker })
  const { probe, probeAll } = createProbes(python, probeProgram)
  const socketPath = options.f2bSocket ?? (await files.socket().catch(() => null)) ?? '/var/run/fail2ban/fail2ban.sock'
  const map = readPlaces(options.config)
  const whereabouts = createWhereabouts({ socketPath, named: map.inside(socketPath), isMapped: map.isMapped })
  const places = map.isMapped ? map : unlessApart(whereabouts)
  const config: EngineConfig = {
    ...files,
    jails() {
      // The host of a fail2ban in a container may have none of its classes, and reads its configuration with them.
      if (map.isMapped) return files.jails().catch(() => [])
      // Those of this host are not those of a fail2ban in a container.
      return whereabouts.hasOtherPaths() ? Promise.resolve([]) : files.jails()
    },
  }
  const engine = createEngine({ socketPath, places, onUp: on.up, onDown: on.down })
  const loader = createJailLoader({ engine, config, places, runDirectory: options.run })
  return { python, config, probe, probeAll, socketPath, places, whereabouts, engine, loader }
}
