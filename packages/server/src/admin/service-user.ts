import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { codeOf } from '@stockade/contract/error-code.ts'
import { conflict } from '../core/problem.ts'

/** The folder in which the command was called. */
const calledFrom = process.cwd()
export const calledPath = (path: string): string => resolve(calledFrom, path)

const serviceUser = 'stockade'
/** @returns false where there is no such user */
const switchUser = (): boolean => {
  const { status, stdout } = spawnSync('id', ['-G', serviceUser], { encoding: 'utf8' })
  if (status !== 0) return false
  process.setgroups?.(stdout.trim().split(' ').map(Number))
  process.setgid?.(serviceUser)
  process.setuid?.(serviceUser)
  return true
}

/**
 * Takes the settings of the service and, as root, its user: files that root made in the data folder could not be opened by the service.
 * The launchers name the file of settings (`STOCKADE_SETTINGS`), and in a checkout the folder in which `npm start` runs (`STOCKADE_CHECKOUT`).
 */
export const becomeService = (): void => {
  const { STOCKADE_SETTINGS: settings, STOCKADE_CHECKOUT: checkout } = process.env
  // A relative data folder must mean the same one as for the server.
  if (checkout) process.chdir(checkout)
  if (!settings) return
  // The folder of the caller may be closed to that user.
  if (process.getuid?.() === 0 && existsSync(settings) && switchUser()) process.chdir('/')
  try {
    // loadEnvFile calls a file that can't be read one that is not there.
    accessSync(settings, constants.R_OK)
    process.loadEnvFile(settings)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    throw conflict(`${settings} can't be read by this user. Run it with sudo.`)
  }
}
