import * as fs from 'node:fs'
import { join } from 'node:path'
import { createEngineConfig, faultsOf } from './engine/config.ts'
import { createEngine } from './engine/engine.ts'
import { ownJail } from './engine/own-files.ts'
import type { Options } from './options.ts'
import { runProgram } from './process.ts'
import { findInterpreter } from './python/interpreter.ts'
import { checker, lister } from './python/programs.ts'
import { errorText } from './text.ts'

const fileMarkPattern = '# stockade: managed'

/**
 * Takes out what the agent put into fail2ban and nftables: our jail, our files, our table. Deployed templates guard the
 * host and stay, unless `purge`. Then a reload, but only of a configuration that is sound.
 */
export const cleanHost = async (options: Options, purge: boolean, say: (text: string) => void): Promise<void> => {
  await runProgram([...options.nft, 'delete', 'table', 'inet', 'stockade_knock'], { timeout: 10_000 })
  for (const name of ['knock.nft', 'knock.json']) fs.rmSync(join(options.state, name), { force: true })
  const python = findInterpreter(options.f2bServer)
  const config = createEngineConfig({ directory: options.f2bConfig, python, lister, checker })
  const socketPath = options.f2bSocket ?? (await config.socket().catch(() => null)) ?? '/var/run/fail2ban/fail2ban.sock'
  let removed = 0
  for (const folder of ['jail.d', 'filter.d']) {
    const place = join(options.f2bConfig, folder)
    for (const name of fs.existsSync(place) ? fs.readdirSync(place) : []) {
      const path = join(place, name)
      if (!/^(zz-stockade-|stockade)/.test(name) || !fs.readFileSync(path, 'utf8').startsWith(fileMarkPattern)) continue
      if (!purge && (/-30-template-/.test(name) || /^stockade-/.test(name))) continue
      fs.rmSync(path)
      removed += 1
    }
  }
  say(`removed ${removed} files of ours from ${options.f2bConfig}`)
  const engine = createEngine({ socketPath, now: Date.now, onUp: () => undefined, onDown: () => undefined })
  try {
    if ((await engine.jails()).includes(ownJail)) await engine.stop(ownJail)
    const faults = faultsOf(await config.check(null))
    if (faults.length > 0) say(`fail2ban is not reloaded, since its configuration has errors: ${faults.join('; ')}`)
    else await runProgram([options.f2bClient, '-c', options.f2bConfig, '-s', socketPath, 'reload'], { timeout: 60_000 })
  } catch (error) {
    say(`fail2ban is not reloaded: ${errorText(error)}`)
  } finally {
    engine.close()
  }
}
