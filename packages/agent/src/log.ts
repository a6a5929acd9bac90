/** Writes one line for each event to stderr; the init system adds the time and stores it. */
export interface Log {
  info(text: string): void
  warn(text: string): void
  debug(text: string): void
}

export const createLog = (options: { verbose: boolean; stamp: boolean }): Log => {
  const write = (level: string, text: string): void => {
    const line = cleanLine(text)
    process.stderr.write(options.stamp ? `${new Date().toISOString()} ${level} ${line}\n` : `${level} ${line}\n`)
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
