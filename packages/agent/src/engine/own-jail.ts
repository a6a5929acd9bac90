import * as fs from 'node:fs'
import { join } from 'node:path'
import type { Hook } from '../bans/hook.ts'
import { createOnce } from '../log.ts'
import type { Log } from '../log.ts'
import { errorText } from '../text.ts'
import { EngineDown } from './engine.ts'
import type { Engine } from './engine.ts'
import type { JailLoader } from './jail-loader.ts'
import { allInPlace, ownJail, ownJailFiles, writeOwnFiles } from './own-files.ts'

/** Checking the configuration takes a tenth of a second: on a host that refuses our jail, not every 5 s. */
const retryEvery = 300_000

/** The jail that bans by command use. */
export interface OwnJail {
  /** Answers whether the jail had to be started. @throws Error if it cannot run */
  ensure(): Promise<boolean>
  /** Ensures the jail at intervals: never throws, and waits after a failure. */
  keep(): Promise<boolean>
  /** Ends that wait: fail2ban was started again. */
  tryAgain(): void
}

export const createOwnJail = (needs: {
  f2bConfig: string
  engine: Pick<Engine, 'jails'>
  loader: Pick<JailLoader, 'start'>
  hook: Pick<Hook, 'run'>
  now: () => number
  log: Log
}): OwnJail => {
  const trouble = createOnce(needs.log.warn)
  let retryAt = 0

  const ensure = async (): Promise<boolean> => {
    const files = ownJailFiles(needs.f2bConfig)
    if ((await needs.engine.jails()).includes(ownJail)) {
      if (!allInPlace(files)) writeOwnFiles(files)
      return false
    }
    if (isSwitchedOff(needs.f2bConfig)) return false
    await needs.loader.start(ownJail, files)
    await needs.hook.run()
    return true
  }

  return {
    ensure,
    async keep() {
      if (needs.now() < retryAt) return false
      try {
        return await ensure()
      } catch (error) {
        if (!(error instanceof EngineDown)) {
          retryAt = needs.now() + retryEvery
          trouble.tell(`the jail ${ownJail} cannot be kept: ${errorText(error)}`)
        }
        return false
      }
    },
    tryAgain() {
      retryAt = 0
    },
  }
}

const isSwitchedOff = (f2bConfig: string): boolean => {
  const state = join(f2bConfig, 'jail.d', `zz-stockade-50-state-${ownJail}.local`)
  return fs.existsSync(state) && /enabled = false/.test(fs.readFileSync(state, 'utf8'))
}
