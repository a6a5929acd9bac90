import { spawn } from 'node:child_process'
import { within } from '../../packages/server/src/testing/waiting.ts'

/** How a program gets into the namespaces of a host: the program to run, and the arguments in front of its own. */
export interface Namespaces {
  readonly program: string
  readonly args: readonly string[]
  end(): void
}

/**
 * The network namespace of a host. With `root` a mount namespace too, in which /usr is that of another Debian: such a host has its programs
 * and no others. The machine's /etc and /tmp stay.
 */
export const enterNamespaces = async (name: string, root: string | undefined): Promise<Namespaces> => {
  if (root === undefined) return { program: 'ip', args: ['netns', 'exec', name], end: () => undefined }
  const script = 'mount --make-rprivate / && mount --bind "$0/usr" /usr && echo ready && exec cat'
  // Keeps the mount namespace open for as long as its standard input is.
  const keeper = spawn('ip', ['netns', 'exec', name, 'unshare', '-m', 'sh', '-ec', script, root], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await within(
    new Promise<void>((resolve, reject) => {
      keeper.stdout.on('data', () => resolve())
      keeper.once('exit', () => reject(new Error(`${root} cannot be the file system of a host`)))
    }),
    'the mounted file system',
  )
  return {
    program: 'nsenter',
    args: ['-t', String(keeper.pid), '-m', '-n', '--'],
    end: () => keeper.stdin.end(),
  }
}
