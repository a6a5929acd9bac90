import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Whether this machine can fetch and unpack packages of Debian. */
export const hasDebianPrograms = (): boolean =>
  ['/usr/bin/apt-get', '/usr/bin/dpkg-deb'].every(path => existsSync(path))

/**
 * Unpacks packages of this machine's Debian and all that they depend on, as apt chooses them for a system that has none. Nothing of them is run, and of
 * their documents only the licences stay.
 *
 * @param spare paths below the folder that no program of the image needs, as patterns of the shell
 */
export const unpackPackages = (
  names: readonly string[],
  { folder, work, spare }: { readonly folder: string; readonly work: string; readonly spare: readonly string[] },
): void => {
  mkdirSync(join(work, 'partial'), { recursive: true })
  const none = join(work, 'status')
  writeFileSync(none, '')
  const options = [
    `Dir::State::status=${none}`,
    `Dir::Cache::archives=${work}`,
    'Debug::NoLocking=1',
    'APT::Sandbox::User=',
  ].flatMap(option => ['-o', option])
  execFileSync(
    'apt-get',
    ['install', '-qq', '-y', '--download-only', '--no-install-recommends', ...options, ...names],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(work).filter(each => each.endsWith('.deb')))
    execFileSync('dpkg-deb', ['-x', join(work, name), folder])
  const licences = 'find usr/share -type f ! -name copyright -delete; find usr/share -type d -empty -delete'
  execFileSync('sh', ['-c', `rm -rf ${spare.join(' ')}; ${licences}`], { cwd: folder })
  // A package of Debian 13 and newer counts on the links that an installed system has.
  for (const name of ['bin', 'sbin', 'lib', 'lib64'])
    if (!existsSync(join(folder, name)) && existsSync(join(folder, 'usr', name)))
      symlinkSync(`usr/${name}`, join(folder, name))
}
