import { execFile, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Host } from './host.ts'
import { within } from '../../packages/server/src/testing/waiting.ts'

const program = promisify(execFile)

/** A file system of a host's own, so that an installer can do what it does without touching the machine. */
export interface OwnFilesystem {
  /** Runs a shell command inside; rejects when it fails. */
  run(command: string): Promise<{ stdout: string; stderr: string }>
  background(command: string): ReturnType<typeof spawn>
  end(): void
}

/**
 * Opens a mount namespace in the host's network namespace: /opt, /run and everything under /etc and /var/lib are
 * throw-away layers over the machine's, and /etc/fail2ban is the host's. Says why where the machine can't do that.
 */
export async function ownFilesystem(host: Host): Promise<OwnFilesystem | { readonly cannot: string }> {
  const layers = join(host.directory, 'layers')
  fs.mkdirSync(layers)
  // Keeps the mount namespace open for as long as its standard input is.
  const keeper = spawn(
    'ip',
    ['netns', 'exec', host.name, 'unshare', '-m', 'sh', '-ec', mounts(layers, host.f2bConfig)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const ready = await within(
    new Promise<boolean>(resolve => {
      keeper.stdout.on('data', (chunk: Buffer) => {
        if (chunk.toString().includes('ready')) resolve(true)
      })
      keeper.once('exit', () => resolve(false))
      keeper.once('error', () => resolve(false))
    }),
    'the mounted file system',
  )
  if (!ready) return { cannot: 'no mount namespace with overlays' }
  const enter = ['-t', String(keeper.pid), '-m', '-n']
  return {
    run: command => program('nsenter', [...enter, 'sh', '-c', command], { maxBuffer: 1024 * 1024 }),
    background: command => spawn('nsenter', [...enter, 'sh', '-c', `exec ${command}`], { stdio: 'ignore' }),
    end: () => keeper.stdin.end(),
  }
}

/** Throw-away layers over the machine's directories, then waits for the end of its input. */
function mounts(layers: string, f2bConfig: string): string {
  return [
    'mount --make-rprivate /',
    `mount -t tmpfs tmpfs ${layers}`,
    ...['etc', 'var/lib'].flatMap((place, i) => [
      `mkdir ${layers}/u${i} ${layers}/w${i}`,
      `mount -t overlay overlay -o lowerdir=/${place},upperdir=${layers}/u${i},workdir=${layers}/w${i} /${place}`,
    ]),
    'mount -t tmpfs tmpfs /opt',
    'mount -t tmpfs tmpfs /run',
    `mount --bind ${f2bConfig} /etc/fail2ban`,
    'echo ready',
    'exec cat',
  ].join('\n')
}
