/** One line an event on stderr; the init system adds the time and keeps it. */
export interface Log {
  info(text: string): void
  warn(text: string): void
  debug(text: string): void
}

export function createLog(options: { verbose: boolean; stamp: boolean }): Log {
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

/** Says a thing when it begins and when it changes, not each time it is still so. */
export function createOnce(say: (text: string) => void): { tell(text: string): void; over(): void } {
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

function cleanLine(text: string): string {
  // eslint-disable-next-line no-control-regex -- a log line must not carry an attacker's escape sequences
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, 2000)
}
