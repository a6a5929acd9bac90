/*
 * Where the server writes its log. Whoever reads it may be gone or may have stopped reading, as a journal that hangs; the server does its work all the same.
 */

/** What a reader that does not read may leave waiting in memory, bytes. */
const mostWaiting = 1024 * 1024

/** Without a listener each write to a reader that is gone is an exception, which ends the process. */
export const outliveReaders = (): void => {
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error').on('error', () => {})
}

/** Writes lines without ever waiting for their reader. Lines beyond what may wait are left out; the first one after them is preceded by `tell(count)`. */
export const createOutput = (
  stream: Pick<NodeJS.WriteStream, 'write' | 'writableLength'>,
  tell: (count: number) => string,
) => {
  let unread = 0
  return {
    write(line: string): void {
      if (stream.writableLength > mostWaiting) {
        unread++
        return
      }
      if (unread > 0) stream.write(tell(unread))
      unread = 0
      stream.write(line)
    },
  }
}
