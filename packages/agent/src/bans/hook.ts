import * as fs from 'node:fs'
import { join } from 'node:path'
import { steadyNow } from '../clock.ts'
import type { Engine } from '../engine/engine.ts'
import { hasShare } from '../engine/places.ts'
import type { Places } from '../engine/places.ts'
import { readText, writeDurably } from '../files.ts'
import { installedAction } from '../host.ts'
import type { Log } from '../log.ts'
import { spoolFile } from '../options.ts'
import type { Options } from '../options.ts'
import { noShare } from '../python/inside.ts'
import type { AttachedAction } from '../python/inside.ts'
import { errorText } from '../text.ts'

export const actionName = 'stockade'

interface HookFiles {
  /** The action that fail2ban loads. */
  readonly file: string
  /** The file in which it notes events. */
  readonly spool: string
  readonly inside: AttachedAction
  /** Both lie where the map says, and no link of the container leads elsewhere. */
  isShared(): boolean
}

/** Where fail2ban has other files, they are in the folder that both share. */
export const hookFiles = (options: Options, places: Places): HookFiles => {
  const { share } = places
  const files =
    share === null
      ? {
          file: options.actionFile ?? installedAction() ?? join(options.state, 'stockade_action.py'),
          spool: spoolFile(options),
        }
      : { file: join(share.outside, 'stockade_action.py'), spool: join(share.outside, 'events.jsonl') }
  const inside = { name: actionName, file: places.inside(files.file), spool: places.inside(files.spool) }
  return { ...files, inside, isShared: () => hasShare(places) }
}

export interface Hook {
  /** Adds the action where it is missing. Answers whether it was: the jail is new or was reloaded. */
  run(): Promise<boolean>
  /** fail2ban was started again, without the action. */
  forget(): void
  /** An action of ours has ended: a jail was reloaded or stopped. The next run asks all jails. */
  suspect(): void
}

/** Milliseconds between two looks at the actions of a jail that nothing was heard of. */
const askEvery = 30_000

/**
 * Adds our Python action to every jail at run time, without touching the administrator's files. It runs every 5 s. A reload ends the action,
 * which says so, so jails are asked for their actions after that, and every 30 s in case the word was lost.
 */
export const createHook = (needs: {
  engine: Engine
  files: Pick<HookFiles, 'file' | 'inside' | 'isShared'>
  source: string
  onLost: () => void
  log: Log
}): Hook => {
  /** Another set after each start of fail2ban, so that a look that began before adds nothing to it. */
  let attachedNow = new Set<string>()
  const failed = new Set<string>()
  let askAgainAt = 0

  /** Of the file that was found right. */
  let rightMark: string | null = null
  const markNow = (): string | null => {
    const stat = fs.statSync(needs.files.file, { throwIfNoEntry: false })
    return stat ? `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}` : null
  }
  const writeAction = (): void => {
    if (!needs.files.isShared()) throw new Error('a link leads out of the folder engine.share of agent.json')
    if (rightMark !== null && rightMark === markNow()) return
    if (readText(needs.files.file) !== needs.source) writeDurably(needs.files.file, needs.source, 0o644)
    rightMark = markNow()
  }

  return {
    async run(): Promise<boolean> {
      const attached = attachedNow
      let met = false
      try {
        writeAction()
        const jails = await needs.engine.jails()
        const isAskingAll = steadyNow() >= askAgainAt
        if (isAskingAll) askAgainAt = steadyNow() + askEvery
        for (const jail of jails) {
          if (!isAskingAll && attached.has(jail)) continue
          if ((await needs.engine.actions(jail)).includes(actionName)) {
            attached.add(jail)
            continue
          }
          if (attached.delete(jail)) needs.onLost()
          try {
            const { file, spool } = needs.files.inside
            if (file === null || spool === null) throw new Error(noShare)
            await needs.engine.attach(jail, actionName, file, { spool })
            attached.add(jail)
            met = true
            needs.log.info(`watching jail ${jail}`)
          } catch (error) {
            if (!failed.has(jail)) {
              needs.log.warn(
                `jail ${jail}: the action cannot be attached (${errorText(error)}); its bans come from the table alone`,
              )
            }
            failed.add(jail)
          }
        }
        for (const jail of attached) if (!jails.includes(jail)) attached.delete(jail)
      } catch (error) {
        needs.log.debug(`no look at the actions: ${errorText(error)}`)
      }
      return met
    },
    forget(): void {
      attachedNow = new Set()
      failed.clear()
    },
    suspect(): void {
      askAgainAt = 0
    },
  }
}
