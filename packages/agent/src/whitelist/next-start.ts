import { faultsOf } from '../engine/config.ts'
import type { EngineConfig } from '../engine/config.ts'
import type { Engine } from '../engine/engine.ts'
import type { JailLoader } from '../engine/jail-loader.ts'
import { whitelistFile, whitelistText, whitelistValues, writeOwnFiles } from '../engine/own-files.ts'
import { readText } from '../files.ts'
import { canonicalIp } from '../ip.ts'

/** The administrator's own `ignoreip` of each jail; null where there is none. */
export type OwnIgnores = ReadonlyMap<string, readonly string[] | null>

/** The file that gives fail2ban the whitelist at its next start. */
export interface NextStart {
  /** What the administrator's own files say, as if ours were not there. */
  ownIgnores(): Promise<OwnIgnores>
  /** The values in the file as it is. */
  values(): string[]
  /** Writes the list, after fail2ban's own classes have read it. @throws Error if the file would be faulty */
  write(version: string, values: readonly string[], own: OwnIgnores): Promise<void>
  /** Whether somebody changed the configuration since the last `write` or `settle`. */
  isTouched(): boolean
  /** Takes the configuration as it is for known. */
  settle(): void
}

interface ListedJail {
  readonly name: string
  /** Whether the administrator set an `ignoreip` of its own. */
  readonly hasOwn: boolean
}

export const createNextStart = (needs: {
  config: EngineConfig
  engine: Pick<Engine, 'jails' | 'ignore'>
  /** @throws Error with a sentence, if fail2ban does not read these files */
  mustBeShared?: JailLoader['mustBeShared']
}): NextStart => {
  const { config, engine } = needs
  const file = whitelistFile(config.directory)
  let writtenKey = ''
  let knownMark = ''
  let cached: { mark: string; jails: OwnIgnores } | null = null

  const isOurs = (line: string): boolean => line.startsWith(`${file}:`)
  const marks = (): string[] => config.mark().split('\n')

  const settle = (): void => {
    knownMark = config.mark()
  }

  /** Faults that other files already have do not count against ours. */
  const checkFaults = async (text: string | null): Promise<void> => {
    const faults = faultsOf(await config.check(null, { files: [{ path: file, text }], streams: false }))
    if (faults.length === 0) return
    const oldFaults = faultsOf(await config.check(null, { streams: false }))
    const newFaults = faults.filter(fault => !oldFaults.includes(fault))
    if (newFaults.length > 0)
      throw new Error(`the file for fail2ban's next start would be faulty: ${newFaults.join('; ')}`)
  }

  /** Our old file hid an `ignoreip` that the administrator added later, so running jails get it now. */
  const addHidden = async (before: string, jails: readonly ListedJail[], own: OwnIgnores): Promise<void> => {
    const running = await engine.jails().catch((): string[] => [])
    for (const { name, hasOwn } of jails) {
      const values = (own.get(name) ?? []).filter(value => !value.includes('/') || canonicalIp(value) !== null)
      if (!hasOwn || values.length === 0 || !running.includes(name)) continue
      if (before.includes(`\n[${name}]\nignoreip = %(stockade_whitelist)s\n`)) await engine.ignore(name, values)
    }
  }

  return {
    async ownIgnores() {
      const mark = marks()
        .filter(line => !isOurs(line))
        .join('\n')
      if (cached?.mark !== mark) {
        cached = { mark, jails: await config.ignores([{ path: file, text: null }]) }
      }
      return cached.jails
    },
    values: () => whitelistValues(readText(file) ?? ''),
    async write(version, values, own) {
      const enabled = (await config.jails()).filter(jail => jail.enabled)
      const jails = enabled.map(({ name }) => ({ name, hasOwn: (own.get(name) ?? null) !== null }))
      const key = (): string => `${version} ${JSON.stringify(jails)} ${marks().find(isOurs) ?? ''}`
      settle()
      if (key() === writtenKey) return
      const text = whitelistText(values, jails)
      const before = readText(file)
      if (text !== before) {
        await checkFaults(text)
        needs.mustBeShared?.([{ path: file, text }])
        writeOwnFiles([{ path: file, text }])
        if (before !== null) await addHidden(before, jails, own)
      }
      writtenKey = key()
      settle()
    },
    isTouched: () => config.mark() !== knownMark,
    settle,
  }
}
