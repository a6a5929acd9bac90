import { steadyNow } from './clock.ts'
import { createLogBounds } from './log-bounds.ts'

/** Writes one line for each event to stderr; the init system adds the time and stores it. */
export interface Log {
  info(text: string): void
  warn(text: string): void
  debug(text: string): void
}

/** What a reader that does not read may leave waiting in memory, bytes. What comes then is left out and counted. */
const mostWaiting = 64 * 1024

/**
 * A reader of our output may be gone, as `head` or a journal that was stopped. Without a listener each write to it is an exception, whose report
 * is the next write. Whatever else a command does, it does all the same.
 */
export const outliveReaders = (): void => {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
}

type Output = Pick<NodeJS.WriteStream, 'write' | 'writableLength'>

export const createLog = (
  options: { verbose: boolean; stamp: boolean },
  { output = process.stderr, now = steadyNow }: { output?: Output; now?: () => number } = {},
): Log => {
  const bounds = createLogBounds(now)
  let unread = 0
  const put = (level: string, text: string): void => {
    if (output.writableLength > mostWaiting) {
      unread += 1
      return
    }
    const stamp = options.stamp ? `${new Date().toISOString()} ` : ''
    if (unread > 0) output.write(`${stamp}warn ${unread} lines were left out, since nobody read them\n`)
    unread = 0
    output.write(`${stamp}${level} ${text}\n`)
  }
  const write = (level: string, text: string): void => {
    for (const line of bounds.admit(cleanLine(text), level === 'debug')) put(level, line)
  }
  return {
    info: text => write('info', text),
    warn: text => write('warn', text),
    debug: text => {
      if (options.verbose) write('debug', text)
    },
  }
}

/** Reports trouble when it begins and when it changes, not while it lasts. */
export interface Once {
  tell(text: string): void
  /** The trouble is over: the same text is reported again when it comes back. */
  over(): void
}

export const createOnce = (say: (text: string) => void): Once => {
  let last: string | null = null
  return {
    tell: text => {
      if (text !== last) say(text)
      last = text
    },
    over: () => {
      last = null
    },
  }
}

// oxlint-disable-next-line no-control-regex -- a log line must not carry an attacker's escape sequences
const cleanLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, 2000)
