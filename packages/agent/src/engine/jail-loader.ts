import { errorText } from '../text.ts'
import { faultsOf, type CheckedJail, type EngineConfig } from './config.ts'
import type { Engine } from './engine.ts'
import type { Word } from './pickle.ts'
import { writeOwnFiles, type OwnFile } from './own-files.ts'
import { withStage } from './stage.ts'

/**
 * Changes one jail and no other: staged copy, check with fail2ban's classes, write, apply over the socket, verify, else
 * everything back. Never a reload, since one bad expression anywhere would then take all other jails down.
 */
export function createJailLoader(needs: { engine: Engine; config: EngineConfig; runDirectory: string }) {
  const { engine, config } = needs

  /** The jail as it would be with these files. Throws with what is wrong. */
  async function stage(jail: string, files: readonly OwnFile[]): Promise<CheckedJail> {
    return withStage(config.directory, needs.runDirectory, files, async copy => {
      const check = await config.check([jail], copy)
      const faults = faultsOf(check)
      if (faults.length > 0) throw new Error(faults.join('\n'))
      const checked = check.jails.get(jail)
      if (!checked) throw new Error(`there is no jail ${jail} in the configuration`)
      return { ...checked, stream: checked.stream.map(words => words.map(word => moved(word, copy, config.directory))) }
    })
  }

  async function load(jail: string, stream: readonly (readonly Word[])[]): Promise<void> {
    if ((await engine.jails()).includes(jail)) await engine.stop(jail)
    await engine.apply(stream)
    await engine.status(jail)
  }

  return {
    stage,
    /** Builds the jail that the configuration describes, with these files of ours in it. */
    async start(jail: string, files: readonly OwnFile[]): Promise<void> {
      const old = (await config.check([jail])).jails.get(jail)
      const wasRunning = (await engine.jails()).includes(jail)
      const staged = await stage(jail, files)
      if (!staged.enabled) throw new Error(`jail ${jail} stays disabled: a file of the host that is read later says so`)
      const undo = writeOwnFiles(files)
      try {
        await load(jail, staged.stream)
      } catch (error) {
        undo()
        await engine.stop(jail).catch(() => undefined)
        if (wasRunning && old && old.errors.length === 0) await engine.apply(old.stream).catch(() => undefined)
        throw new Error(`fail2ban refused the jail, all is as before: ${errorText(error)}`, { cause: error })
      }
    },
    /** Stops the jail for good: the files say so at the next start too. */
    async stop(jail: string, files: readonly OwnFile[]): Promise<void> {
      const staged = await stage(jail, files)
      if (staged.enabled) throw new Error(`jail ${jail} stays enabled: a file of the host that is read later says so`)
      const undo = writeOwnFiles(files)
      try {
        if ((await engine.jails()).includes(jail)) await engine.stop(jail)
      } catch (error) {
        undo()
        throw error
      }
    },
  }
}

export type JailLoader = ReturnType<typeof createJailLoader>

function moved(word: Word, from: string, to: string): Word {
  if (typeof word === 'string') return word.split(from).join(to)
  if (Array.isArray(word)) return (word as readonly Word[]).map(item => moved(item, from, to))
  return word
}
