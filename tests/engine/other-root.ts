import { spawn } from 'node:child_process'
import { within } from '../../packages/server/src/testing/waiting.ts'

/** How a program gets into the namespaces of a host: the program to run, and the arguments in front of its own. */
export interface Namespaces {
  readonly program: string
  readonly args: readonly string[]
  end(): void
}

const otherPrograms = 'mount --make-rprivate / && mount --bind "$0/usr" /usr && echo ready && exec cat'

/** Ends the daemons that were started inside: their files of process ids are seen here only. */
const ownSystem = `mount --make-rprivate /
mkdir "$0" && mount -t tmpfs tmpfs "$0" && mkdir "$0/upper" "$0/work"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$0/upper,workdir=$0/work" /etc
mount -t tmpfs tmpfs /run && echo ready && cat
for file in /run/firewalld.pid /run/dbus/pid; do test ! -s $file || kill "$(cat $file)"; done`

/**
 * The network namespace of a host. With `root` a mount namespace too, in which /usr is that of another Debian: such a host has its programs
 * and no others. The machine's /etc and /tmp stay. With `layer`, a directory to be made, the mount namespace has a /run of its own and an /etc
 * that may be written to, so that daemons such as D-Bus and firewalld run there without a trace on the machine.
 */
export const enterNamespaces = async (
  name: string,
  { root, layer }: { readonly root: string | undefined; readonly layer: string | undefined },
): Promise<Namespaces> => {
  const place = root ?? layer
  if (place === undefined) return { program: 'ip', args: ['netns', 'exec', name], end: () => undefined }
  const script = root === undefined ? ownSystem : otherPrograms
  // Keeps the mount namespace open for as long as its standard input is.
  const keeper = spawn('ip', ['netns', 'exec', name, 'unshare', '-m', 'sh', '-ec', script, place], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await within(
    new Promise<void>((resolve, reject) => {
      keeper.stdout.on('data', () => resolve())
      keeper.once('exit', () => reject(new Error(`${place} cannot be the file system of a host`)))
    }),
    'the mounted file system',
  )
  return {
    program: 'nsenter',
    args: ['-t', String(keeper.pid), '-m', '-n', '--'],
    end: () => keeper.stdin.end(),
  }
}
