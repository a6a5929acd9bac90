import { errorText } from '../text.ts'
import { faultsOf } from './config.ts'
import type { CheckedJail, EngineConfig, Trial } from './config.ts'
import type { Engine } from './engine.ts'
import type { Word } from './pickle.ts'
import { writeOwnFiles } from './own-files.ts'
import type { OwnFile } from './own-files.ts'
import type { Places } from './places.ts'

export interface Vetting {
  /** Checks the commands that would be sent to fail2ban; throws if they must not be. */
  readonly vet?: (checked: CheckedJail) => void
  /** Judges the groups of the expressions, and tries them on lines that make bad ones slow. */
  readonly trial?: Trial
}

export interface JailLoader {
  stage(jail: string, files: readonly OwnFile[], vetting?: Vetting): Promise<CheckedJail>
  exists(jail: string, files: readonly OwnFile[]): Promise<boolean>
  /** As `writeOwnFiles`, where fail2ban reads them. @throws Error as `mustBeShared` */
  write(files: readonly OwnFile[]): () => void
  /** @throws Error with a sentence, if fail2ban does not read these files, or a link leads out of what it shares */
  mustBeShared(files: readonly OwnFile[]): void
  /** Builds the jail that the configuration describes, with these files of ours in it. */
  start(jail: string, files: readonly OwnFile[], vetting?: Vetting): Promise<void>
  /** Stops the jail; the files keep it stopped at the next start. */
  stop(jail: string, files: readonly OwnFile[]): Promise<void>
  /** Runs the jail or stops it, as the configuration says with these files. */
  settle(jail: string, files: readonly OwnFile[]): Promise<'running' | 'stopped'>
}

/**
 * Changes one jail and no other: staged copy, check with fail2ban's classes, write, apply over the socket, verify, else
 * everything back. Never a reload, since one bad expression anywhere would then take all other jails down.
 */
export const createJailLoader = (needs: { engine: Engine; config: EngineConfig; places: Places }): JailLoader => {
  const { engine, config } = needs

  /** The jail as it would be with these files. Throws with what is wrong. */
  const stage = async (jail: string, files: readonly OwnFile[], vetting: Vetting = {}): Promise<CheckedJail> => {
    const check = await config.check([jail], { files, trial: vetting.trial ?? null })
    const faults = faultsOf(check)
    if (faults.length > 0) throw new Error(faults.join('\n'))
    const checked = check.jails.get(jail)
    if (!checked) throw new Error(`there is no jail ${jail} in the configuration`)
    return checked
  }

  /** Whether the configuration has such a jail with these files, enabled or not. */
  const exists = async (jail: string, files: readonly OwnFile[]): Promise<boolean> =>
    (await config.check([jail], { files, streams: false })).jails.has(jail)

  const load = async (jail: string, stream: readonly (readonly Word[])[]): Promise<void> => {
    if ((await engine.jails()).includes(jail)) await engine.stop(jail)
    await engine.apply(stream)
    await engine.status(jail)
    const files = await engine.logpath(jail)
    const lost = stream.find(words => words[2] === 'addlogpath' && !files.includes(String(words[3])))
    if (lost && !isJournal(stream)) throw new Error(`it does not read ${String(lost[3])}`)
  }

  /** A link in a folder that a container rules must not lead what is written to other folders of the host. */
  const mustBeShared = (files: readonly OwnFile[]): void => {
    for (const { path } of files) {
      const inside = needs.places.inside(path)
      if (inside === null || needs.places.outside(inside) !== path)
        throw new Error(
          `refused: ${path} is not where fail2ban reads it: it runs in a container, and engine.map of agent.json shares no such folder`,
        )
    }
  }

  const write = (files: readonly OwnFile[]): (() => void) => {
    mustBeShared(files)
    return writeOwnFiles(files)
  }

  /** Files first, so that the next start of fail2ban agrees; when fail2ban refuses, both are put back. */
  const change = async (jail: string, files: readonly OwnFile[], staged: CheckedJail): Promise<void> => {
    const old = (await config.check([jail])).jails.get(jail)
    const wasRunning = (await engine.jails()).includes(jail)
    const undo = write(files)
    try {
      if (staged.enabled) await load(jail, staged.stream)
      else if (wasRunning) await engine.stop(jail)
    } catch (error) {
      undo()
      await engine.stop(jail).catch(() => undefined)
      const back = wasRunning && old && old.errors.length === 0 ? load(jail, old.stream) : Promise.resolve()
      const lost = await back.then(
        () => '',
        (again: unknown) => `; but the jail could not be started as it was: ${errorText(again)}`,
      )
      const verdict = lost === '' ? 'all is as before' : 'the files are as before'
      throw new Error(`fail2ban refused the jail, ${verdict}: ${errorText(error)}${lost}`, { cause: error })
    }
  }

  return {
    stage,
    exists,
    write,
    mustBeShared,
    async start(jail: string, files: readonly OwnFile[], vetting: Vetting = {}): Promise<void> {
      mustBeShared(files)
      const staged = await stage(jail, files, vetting)
      if (!staged.enabled) throw new Error(`jail ${jail} stays disabled: a file of the host that is read later says so`)
      vetting.vet?.(staged)
      await change(jail, files, staged)
    },
    async stop(jail: string, files: readonly OwnFile[]): Promise<void> {
      mustBeShared(files)
      const staged = await stage(jail, files)
      if (staged.enabled) throw new Error(`jail ${jail} stays enabled: a file of the host that is read later says so`)
      await change(jail, files, staged)
    },
    async settle(jail: string, files: readonly OwnFile[]): Promise<'running' | 'stopped'> {
      const staged = (await exists(jail, files)) ? await stage(jail, files) : { enabled: false, errors: [], stream: [] }
      await change(jail, files, staged)
      return staged.enabled ? 'running' : 'stopped'
    },
  }
}

/** A jail that reads the journal has no files. */
const isJournal = (stream: readonly (readonly Word[])[]): boolean =>
  stream.some(words => words[0] === 'add' && String(words[2]).startsWith('systemd'))
