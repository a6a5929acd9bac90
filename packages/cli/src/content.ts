import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { codeOf } from '@stockade/contract/error-code.ts'
import { Misuse } from './failure.ts'

/** What a file holds; `-` is standard input, which may be a pipe whose other end takes its time. */
export const contentOf = async (file: string): Promise<string> => {
  try {
    // readFileSync(0) gives up with EAGAIN where somebody made the pipe non-blocking and nothing is in it yet.
    return file === '-' ? await text(process.stdin) : readFileSync(file, 'utf8')
  } catch (error) {
    throw new Misuse(`${file} can't be read: ${codeOf(error) ?? 'unknown error'}.`)
  }
}
