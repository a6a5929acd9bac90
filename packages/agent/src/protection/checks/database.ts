import * as fs from 'node:fs'
import { dirname } from 'node:path'
import type { Engine } from '../../engine/engine.ts'
import { insideText } from '../../engine/places.ts'
import { errorText } from '../../text.ts'
import type { ReadPositions } from '../log-positions.ts'
import { bad, ok, unknown, warning } from '../model.ts'
import type { Check, Finding } from '../model.ts'

const minFreeBytes = 100 * 1024 * 1024
const minFreeShare = 0.05

/** Whether fail2ban's bans survive its next restart: its database is there, is readable and has room. */
export const databaseCheck = (needs: {
  engine: Pick<Engine, 'databaseFile' | 'databaseName'>
  positions: ReadPositions
  /** fail2ban may have files that the agent does not see. */
  isElsewhere: () => boolean
}): Check => ({
  id: 'database',
  every: 20_000,
  badAfter: 0,
  looks: 2,
  needsEngine: true,
  async look(): Promise<Finding[]> {
    const file = await needs.engine.databaseFile()
    if (file === null) {
      const name = await needs.engine.databaseName()
      if (name !== null) return [unknown(null, insideText(`fail2ban's database ${name}`))]
      return [
        warning(null, 'fail2ban keeps its bans in no file (dbfile is None or :memory:): they do not survive a restart'),
      ]
    }
    if (!fs.existsSync(file) && needs.isElsewhere()) return [unknown(null, insideText(`fail2ban's database ${file}`))]
    if (!fs.existsSync(file))
      return [bad(null, `fail2ban's database ${file} is gone: its bans do not survive a restart`)]
    try {
      await needs.positions(file)
    } catch (error) {
      return [bad(null, `fail2ban's database ${file} cannot be read: ${errorText(error)}`)]
    }
    const { bavail, blocks, bsize } = fs.statfsSync(dirname(file))
    const isFull = bavail * bsize < minFreeBytes && bavail < blocks * minFreeShare
    return [isFull ? warning(null, `the disk that holds fail2ban's database ${file} is almost full`) : ok(null)]
  },
})
