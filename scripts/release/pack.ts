import { execFileSync } from 'node:child_process'
import { epoch } from './places.ts'

/** Packs what a folder holds under these names: the same bytes at each run. `owner` is the number of user and group, 0 unless given. */
export const pack = (archive: string, folder: string, names: readonly string[], owner = 0): void => {
  execFileSync('tar', [
    '--sort=name',
    '--format=gnu',
    `--mtime=@${epoch}`,
    `--owner=${owner}`,
    `--group=${owner}`,
    '--numeric-owner',
    '-C',
    folder,
    ...(archive.endsWith('.gz') ? ['-I', 'gzip -n -6'] : []),
    '-cf',
    archive,
    ...names,
  ])
}
