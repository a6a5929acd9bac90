import * as fs from 'node:fs'
import { steadyNow } from '../clock.ts'
import { readText, writeDurably } from '../files.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import { errorText } from '../text.ts'

export const actionName = 'stockade'

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
  file: string
  source: string
  /** What fail2ban calls both files; null: it does not see them. */
  inside: { readonly file: string | null; readonly spool: string | null }
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
    const stat = fs.statSync(needs.file, { throwIfNoEntry: false })
    return stat ? `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}` : null
  }
  const writeAction = (): void => {
    if (rightMark !== null && rightMark === markNow()) return
    if (readText(needs.file) !== needs.source) writeDurably(needs.file, needs.source, 0o644)
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
            const { file, spool } = needs.inside
            if (file === null || spool === null)
              throw new Error('engine.share of agent.json names no folder that fail2ban sees')
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
