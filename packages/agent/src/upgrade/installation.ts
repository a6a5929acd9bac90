import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, join } from 'node:path'
import { codeOf } from '@stockade/contract/error-code.ts'
import { prepareDurably, readText, syncDirectory } from '../files.ts'
import { runProgram } from '../process.ts'
import { errorText } from '../text.ts'

/* The installed releases of the agent: `releases/<version>-<8 hex of its SHA-256>`, of which `current` is the one that runs. */

const programName = 'stockade-agent.mjs'
const releaseName = /^[0-9][0-9A-Za-z.+-]{0,80}$/

/** A file of the init system that each release brings. */
export interface UnitFile {
  /** As `stockade-agent unit` names it. */
  readonly unit: string
  readonly path: string
  readonly mode: number
}

export interface Installation {
  /** The release that `current` points to; null where the installer did not put the agent there. */
  current(): string | null
  /** The release before the current one, which is kept; null if there is none. */
  previous(): string | null
  has(name: string): boolean
  /** The version that a release names itself. @throws Error with a sentence if it does not start */
  versionOf(name: string): Promise<string>
  /**
   * Puts a program beside the others without using it, and returns the name of its release.
   * @param version what it must call itself; null accepts any version
   * @throws Error with a sentence if it does not run here, says it is another version, or does not fit on the disk
   */
  stage(program: Buffer, version: string | null): Promise<string>
  /** Points `current` to a release and leaves the unit files. This needs no room on the disk. */
  use(name: string): void
  /** Points `current` to a release and installs its unit files. @throws where the disk is full; nothing is changed then */
  switchTo(name: string): void
  /** The release that a return leads to. */
  rememberPrevious(name: string): void
  /** Keeps this release's program as the one that the upgrader itself runs, whatever `current` is meanwhile. */
  holdUpgrader(name: string): void
  releaseUpgrader(): void
  /** Removes all releases but these. */
  prune(kept: readonly (string | null)[]): void
}

export const createInstallation = (root: string, units: readonly UnitFile[]): Installation => {
  const releases = join(root, 'releases')
  const folderOf = (name: string): string => {
    if (!releaseName.test(name)) throw new Error('this is no name of a release')
    return join(releases, name)
  }
  const linked = (link: string): string | null => {
    try {
      const name = basename(fs.readlinkSync(join(root, link)))
      return releaseName.test(name) && fs.existsSync(join(folderOf(name), programName)) ? name : null
    } catch {
      return null
    }
  }
  const point = (link: string, name: string): void => {
    const temporary = join(root, `.${link}.new`)
    fs.rmSync(temporary, { force: true })
    fs.symlinkSync(join('releases', name), temporary)
    fs.renameSync(temporary, join(root, link))
    syncDirectory(root)
  }
  const run = async (folder: string, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runProgram([process.execPath, join(folder, programName), ...args], {
      timeout: 30_000,
    })
    if (code !== 0) throw new Error(`the program of this release does not run on this host: ${stderr.slice(0, 300)}`)
    return stdout
  }
  const versionIn = async (folder: string): Promise<string> => (await run(folder, '--version')).trim()

  /** Everything that belongs to a release, in a folder that nothing uses yet. */
  const fill = async (folder: string, program: Buffer, version: string | null): Promise<string> => {
    fs.mkdirSync(join(folder, 'units'), { recursive: true, mode: 0o755 })
    fs.writeFileSync(join(folder, programName), program, { mode: 0o755, flush: true })
    const folderVersion = await versionIn(folder)
    if (version !== null && folderVersion !== version)
      throw new Error(`the program says it is version ${folderVersion.slice(0, 60)} and not ${version}`)
    for (const [command, file] of [
      ['action', 'stockade_action.py'],
      ['launcher', 'stockade_launcher.py'],
    ] as const)
      fs.writeFileSync(join(folder, file), await run(folder, command), { mode: 0o644, flush: true })
    for (const { unit, path } of units)
      fs.writeFileSync(join(folder, 'units', basename(path)), await run(folder, 'unit', unit), { flush: true })
    for (const place of [join(folder, 'units'), folder]) syncDirectory(place)
    return folderVersion
  }

  /** The installer wrote the unit files of its release only to their place. */
  const keepUnits = (name: string): void => {
    const folder = join(folderOf(name), 'units')
    if (fs.existsSync(folder)) return
    // A folder that a crash left half filled would lead back to half of the unit files.
    const staging = `${folder}.new`
    fs.rmSync(staging, { recursive: true, force: true })
    fs.mkdirSync(staging, { mode: 0o755 })
    for (const { path } of units) {
      const text = readText(path)
      if (text !== null) fs.writeFileSync(join(staging, basename(path)), text, { flush: true })
    }
    fs.renameSync(staging, folder)
    syncDirectory(folderOf(name))
  }

  const installation: Installation = {
    current: () => linked('current'),
    previous() {
      const name = linked('previous')
      return name === linked('current') ? null : name
    },
    has: name => fs.existsSync(join(folderOf(name), programName)),
    versionOf: name => versionIn(folderOf(name)),
    async stage(program, version) {
      const mark = createHash('sha256').update(program).digest('hex').slice(0, 8)
      const staging = join(releases, `.staging-${mark}`)
      fs.rmSync(staging, { recursive: true, force: true })
      try {
        const name = `${await fill(staging, program, version)}-${mark}`
        if (installation.current() !== name) {
          fs.rmSync(folderOf(name), { recursive: true, force: true })
          fs.renameSync(staging, folderOf(name))
          syncDirectory(releases)
        }
        return name
      } catch (error) {
        throw codeOf(error) === 'ENOSPC'
          ? new Error('the disk of this host is full: nothing was changed', { cause: error })
          : new Error(errorText(error), { cause: error })
      } finally {
        fs.rmSync(staging, { recursive: true, force: true })
      }
    },
    use: name => point('current', name),
    switchTo(name) {
      const before = installation.current()
      if (before !== null && before !== name) keepUnits(before)
      const folder = join(folderOf(name), 'units')
      // What needs room comes first, so that a full disk changes nothing.
      const ready = units.flatMap(({ path, mode }) => {
        const text = readText(join(folder, basename(path)))
        return text !== null && readText(path) !== text ? [prepareDurably(path, text, mode)] : []
      })
      point('current', name)
      for (const put of ready) put()
    },
    rememberPrevious: name => point('previous', name),
    holdUpgrader: name => point('upgrading', name),
    releaseUpgrader: () => fs.rmSync(join(root, 'upgrading'), { force: true }),
    prune(kept) {
      for (const name of fs.readdirSync(releases))
        if (!kept.includes(name)) fs.rmSync(join(releases, name), { recursive: true, force: true })
    },
  }
  return installation
}
