import * as fs from 'node:fs'
import { join } from 'node:path'
import { faultsOf } from './engine/config.ts'
import { ownJail } from './engine/own-files.ts'
import { sayFarewell } from './farewell.ts'
import { isAgentRunning } from './lock.ts'
import type { Options } from './options.ts'
import { findFail2ban } from './parts/fail2ban.ts'
import { runProgram } from './process.ts'
import { shieldTable } from './shield/rules.ts'
import { errorText } from './text.ts'

const fileMarkPattern = '# stockade: managed'

/** Drop-ins that the installer added because fail2ban does not start, or bans nobody, without them. They always stay. */
const isNeededByFail2ban = (name: string): boolean => /^zz-stockade-20-/.test(name)

/**
 * Removes what the agent put into fail2ban and nftables: our jail, our files, our tables. Deployed templates protect the
 * host and stay, unless `purge`. Then fail2ban reloads, but only if its configuration is sound.
 */
export const cleanHost = async (options: Options, purge: boolean, say: (text: string) => void): Promise<void> => {
  if (!isAgentRunning(options.run)) {
    const farewellText = await sayFarewell(options, process.env)
    if (farewellText !== null) say(farewellText)
  }
  const hasBans = ['shield.json', 'fleet-bans.json'].some(name => fs.existsSync(join(options.state, name)))
  if (hasBans) say('bans by command and of the fleet are lifted: nothing holds them without the agent')
  await runProgram([...options.nft, 'delete', 'table', 'inet', 'stockade_knock'], { timeout: 10_000 })
  // Nobody owns the table after the agent has stopped.
  await runProgram([...options.nft, 'delete', 'table', 'inet', shieldTable], { timeout: 10_000 })
  for (const name of ['knock.nft', 'knock.json', 'shield.json', 'shield.nft', 'fleet-bans.json'])
    fs.rmSync(join(options.state, name), { force: true })
  const nobody = { up: () => undefined, down: () => undefined }
  const { config, engine, places, socketPath } = await findFail2ban(options, nobody)
  const removed = removeFiles(options.f2bConfig, purge, say)
  say(`removed ${removed} files of ours from ${options.f2bConfig}`)
  try {
    if ((await engine.jails()).includes(ownJail)) await engine.stop(ownJail)
    const check = await config.check(null)
    const faults = faultsOf(check)
    if (faults.length > 0) say(`fail2ban is not reloaded, since its configuration has errors: ${faults.join('; ')}`)
    else if (places.isMapped)
      await engine.reload(
        null,
        [...check.jails.values()].flatMap(({ stream }) => stream),
      )
    else await runProgram([options.f2bClient, '-c', options.f2bConfig, '-s', socketPath, 'reload'], { timeout: 60_000 })
  } catch (error) {
    say(`fail2ban is not reloaded: ${errorText(error)}`)
  } finally {
    engine.close()
  }
}

/** Answers how many files were removed. */
const removeFiles = (f2bConfig: string, purge: boolean, say: (text: string) => void): number => {
  let removed = 0
  for (const folder of ['jail.d', 'filter.d']) {
    const place = join(f2bConfig, folder)
    for (const name of fs.existsSync(place) ? fs.readdirSync(place) : []) {
      const path = join(place, name)
      if (!/^(zz-stockade-|stockade)/.test(name) || !fs.readFileSync(path, 'utf8').startsWith(fileMarkPattern)) continue
      if (isNeededByFail2ban(name)) {
        say(`${path} stays: fail2ban needs it on this host`)
        continue
      }
      if (!purge && (/-30-template-/.test(name) || /^stockade-/.test(name))) continue
      fs.rmSync(path)
      removed += 1
    }
  }
  return removed
}
