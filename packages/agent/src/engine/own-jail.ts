import * as fs from 'node:fs'
import { join } from 'node:path'
import { steadyNow } from '../clock.ts'
import type { Hook } from '../bans/hook.ts'
import { createOnce } from '../log.ts'
import type { Log } from '../log.ts'
import { createSerial } from '../serial.ts'
import { errorText } from '../text.ts'
import { EngineDown, sharedAge } from './engine.ts'
import type { Engine } from './engine.ts'
import type { JailLoader } from './jail-loader.ts'
import { allInPlace, ownJail, ownJailFiles, readOwnProtocol } from './own-files.ts'
import type { OwnProtocol } from './own-files.ts'

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
  engine: Pick<Engine, 'actionOption' | 'actions' | 'jails' | 'version'>
  loader: Pick<JailLoader, 'start' | 'write'>
  hook: Pick<Hook, 'run'>
  log: Log
}): OwnJail => {
  const trouble = createOnce(needs.log.warn)
  const inTurn = createSerial()
  let retryAt = 0

  /** Up to 0.11, fail2ban passes a list of protocols to iptables as it is, and iptables refuses it. */
  const fittingProtocol = async (): Promise<OwnProtocol> => {
    if (!/^0\./.test(needs.engine.version() ?? '')) return 'tcp,udp'
    for (const action of await needs.engine.actions(ownJail)) {
      const start = await needs.engine.actionOption(ownJail, action, 'actionstart')
      if (start !== null && /-p (?:<protocol>|tcp,udp|all)/.test(start)) return 'all'
    }
    return 'tcp,udp'
  }

  const startWith = (protocol: OwnProtocol): Promise<void> =>
    needs.loader.start(ownJail, ownJailFiles(needs.f2bConfig, protocol))

  /** `listAge`: how old the list of jails may be, milliseconds. */
  const ensureOnce = async (listAge: number): Promise<boolean> => {
    const written = readOwnProtocol(needs.f2bConfig)
    const isRunning = (await needs.engine.jails(listAge)).includes(ownJail)
    if (!isRunning && isSwitchedOff(needs.f2bConfig)) return false
    if (!isRunning) await startWith(written)
    // Only a running jail tells how its action uses the protocol.
    const fitting = await fittingProtocol()
    if (fitting !== written) await startWith(fitting)
    const files = ownJailFiles(needs.f2bConfig, fitting)
    if (!allInPlace(files)) needs.loader.write(files)
    if (isRunning && fitting === written) return false
    await needs.hook.run()
    return true
  }
  /** A command and the agent's own look may ask at the same time. */
  const ensure = (listAge = 0): Promise<boolean> => inTurn(() => ensureOnce(listAge))

  return {
    ensure: () => ensure(),
    async keep() {
      if (steadyNow() < retryAt) return false
      try {
        return await ensure(sharedAge)
      } catch (error) {
        if (!(error instanceof EngineDown)) {
          retryAt = steadyNow() + retryEvery
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
