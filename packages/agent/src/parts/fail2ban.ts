import { createEngineConfig } from '../engine/config.ts'
import { createEngine } from '../engine/engine.ts'
import { createJailLoader } from '../engine/jail-loader.ts'
import { readPlaces } from '../engine/places.ts'
import type { Options } from '../options.ts'
import { findInterpreter } from '../python/interpreter.ts'
import { checker, lister, probe as probeProgram } from '../python/programs.ts'
import { createProbes } from '../self-test/probe.ts'

/** The way to fail2ban: its interpreter, its configuration and its socket. */
export const findFail2ban = async (options: Options, on: { up: () => void; down: () => void }) => {
  const python = findInterpreter(options.f2bServer)
  const config = createEngineConfig({ directory: options.f2bConfig, python, lister, checker })
  const { probe, probeAll } = createProbes(python, probeProgram)
  const socketPath = options.f2bSocket ?? (await config.socket().catch(() => null)) ?? '/var/run/fail2ban/fail2ban.sock'
  const places = readPlaces(options.config)
  const engine = createEngine({ socketPath, places, onUp: on.up, onDown: on.down })
  const loader = createJailLoader({ engine, config, places, runDirectory: options.run })
  return { python, config, probe, probeAll, socketPath, places, engine, loader }
}
