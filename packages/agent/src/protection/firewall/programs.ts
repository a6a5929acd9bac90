import * as fs from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { steadyNow } from '../../clock.ts'
import type { EngineConfig } from '../../engine/config.ts'
import { readText } from '../../files.ts'
import { onPath } from '../../python/interpreter.ts'

export interface Programs {
  isThere(program: string): Promise<boolean>
}

/** The questions about all jails of one look share what was found, milliseconds. */
const foundFor = 1000

/**
 * Whether fail2ban's actions find a program. They use the path that fail2ban was started with; where the agent may not
 * read that one, its own path and the usual folders stand for it.
 */
/** @param isElsewhere fail2ban may have files that the agent does not see: then no program counts as absent */
export const createPrograms = (
  config: Pick<EngineConfig, 'pidFile'>,
  isElsewhere: () => boolean = () => false,
): Programs => {
  const pathOfEngine = async (): Promise<string | null> => {
    const file = await config.pidFile().catch(() => null)
    const pid = Number((file === null ? null : readText(file)) ?? 0)
    if (!Number.isInteger(pid) || pid <= 1) return null
    try {
      const environment = fs.readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
      return environment.find(entry => entry.startsWith('PATH='))?.slice('PATH='.length) ?? null
    } catch {
      return null
    }
  }

  const isFound = async (program: string): Promise<boolean> => {
    const path = await pathOfEngine()
    if (path === null) return onPath(program) !== null
    return path.split(delimiter).some(place => place !== '' && fs.existsSync(join(place, program)))
  }

  let presenceByName = new Map<string, Promise<boolean>>()
  let foundAt = -Infinity

  return {
    async isThere(program: string): Promise<boolean> {
      if (isElsewhere()) return true
      if (isAbsolute(program)) return fs.existsSync(program)
      if (steadyNow() - foundAt >= foundFor) {
        presenceByName = new Map()
        foundAt = steadyNow()
      }
      const answer = presenceByName.get(program) ?? isFound(program)
      presenceByName.set(program, answer)
      return answer
    },
  }
}
