import { readFileSync } from 'node:fs'
import { Misuse } from './failure.ts'

/** What a file holds; `-` is standard input. */
export const contentOf = (file: string): string => {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new Misuse(`${file} can't be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}.`)
  }
}
