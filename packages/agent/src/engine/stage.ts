import * as fs from 'node:fs'
import { basename, join } from 'node:path'
import { linkTree } from '../files.ts'
import type { OwnFile } from './own-files.ts'

/**
 * Works on a copy of fail2ban's configuration in which these files of ours are as they would be. The copy has another name each time, so errors
 * name the configuration itself: a sentence that lasts stays the same.
 */
export const withStage = async <T>(
  config: string,
  runDirectory: string,
  files: readonly OwnFile[],
  work: (copy: string) => Promise<T>,
): Promise<T> => {
  const copy = fs.mkdtempSync(join(runDirectory, 'stage-'))
  try {
    linkTree(config, copy)
    for (const { path, text } of files) {
      const staged = join(copy, basename(join(path, '..')), basename(path))
      fs.rmSync(staged, { force: true })
      if (text !== null) fs.writeFileSync(staged, text)
    }
    return await work(copy)
  } catch (error) {
    if (error instanceof Error) error.message = error.message.replaceAll(copy, config)
    throw error
  } finally {
    fs.rmSync(copy, { recursive: true, force: true })
  }
}
