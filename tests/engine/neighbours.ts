import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { promisify } from 'node:util'
import { until, type Host } from './host.ts'
import { within } from '../../packages/server/src/testing/waiting.ts'

const run = promisify(execFile)

/** Attackers and a container around a host, each in a namespace of its own, with real packets between them. */
export interface Neighbours {
  /** Whether a TCP connection from this source reaches the host's own port. */
  reachesHost(source: string): Promise<boolean>
  /** The same for a port that the host translates to its container. */
  reachesContainer(source: string): Promise<boolean>
  /** Whether the host's own connection to a port of the attacker works. */
  hostReaches(target: string): Promise<boolean>
  /** Opens a TCP connection from this source to the host and keeps it. */
  openConnection(source: string): Promise<OpenConnection>
  /** Empties the neighbour caches of the host and of the attackers, so that the next packet needs ARP or neighbour discovery. */
  forgetNeighbours(): Promise<void>
  /** Whether the attackers have learnt the link address of this address of the host. */
  knowsLinkOf(address: string): Promise<boolean>
  /** Runs a program in the namespace of the attackers; its standard output. */
  insideAttacker(...command: string[]): Promise<string>
  /** Starts a Python program on the host, which runs until the end. Answers the first line that it says. */
  runOnHost(program: string, ...args: string[]): Promise<string>
  end(): Promise<void>
}

export interface OpenConnection {
  /** Whether the host answers what is sent now. */
  isHeard(): Promise<boolean>
}

/** The sources that packets can come from. */
export const sources = {
  bad: '198.51.100.7',
  good: '198.51.100.200',
  talking: '198.51.100.90',
  other: '192.0.2.9',
  bad6: '2001:db8:0:7::7',
  sameNetwork6: '2001:db8:0:7::99',
  good6: '2001:db8:0:8::1',
} as const

const hostPort = 8080
const echoPort = 8082
const publishedPort = 8081
/** What is dropped is silent, so nothing more is learnt by a longer wait. */
const impatience = 1.5

/** Accepts connections on both families and says nothing. */
const listener = `
import socket, sys
s = socket.socket(socket.AF_INET6); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0); s.bind(("::", int(sys.argv[1]))); s.listen(64)
print("ready", flush=True)
while True: s.accept()[0].close()
`
/** Sends back what it gets, on each connection. */
const echo = `
import socket, sys, threading
s = socket.socket(socket.AF_INET6); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0); s.bind(("::", int(sys.argv[1]))); s.listen(64)
print("ready", flush=True)
def serve(c):
  while True: c.sendall(c.recv(64))
while True: threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
`
/** Each line of its input sends another mark, and is answered with whether that came back: an earlier one may come late. */
const talker = `
import socket, sys
source, target, port, wait = sys.argv[1:5]
s = socket.socket(socket.AF_INET6 if ":" in target else socket.AF_INET); s.settimeout(15)
s.bind((source, 0)); s.connect((target, int(port))); s.settimeout(float(wait)); print("ready", flush=True)
for number, line in enumerate(sys.stdin):
  mark, heard = b"<%d>" % number, b""
  try:
    s.sendall(mark)
    while mark not in heard:
      part = s.recv(64)
      if not part: raise OSError
      heard += part
    print("yes", flush=True)
  except OSError: print("no", flush=True)
`
const connector = `
import socket, sys
source, target, port, wait = sys.argv[1:5]
s = socket.socket(socket.AF_INET6 if ":" in target else socket.AF_INET); s.settimeout(float(wait))
if source != "-": s.bind((source, 0))
try: s.connect((target, int(port))); print("yes")
except OSError: print("no")
`

export async function neighboursOf(host: Host): Promise<Neighbours> {
  const attacker = `${host.name}a`
  const container = `${host.name}c`
  const ip = (...args: string[]): Promise<unknown> => run('ip', args)
  const listeners: ChildProcess[] = []

  const link = async (namespace: string, name: string, base: string, base6: string): Promise<void> => {
    await ip('netns', 'add', namespace)
    await ip('-n', host.name, 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
    for (const [where, device, last] of [
      [host.name, name, '1'],
      [namespace, 'eth0', '2'],
    ] as const) {
      await ip('-n', where, 'addr', 'add', `${base}.${last}/24`, 'dev', device)
      await ip('-n', where, 'addr', 'add', `${base6}::${last}/64`, 'dev', device, 'nodad')
      await ip('-n', where, 'link', 'set', device, 'up')
    }
    await ip('-n', namespace, 'link', 'set', 'lo', 'up')
    await ip('-n', namespace, 'route', 'add', 'default', 'via', `${base}.1`)
    await ip('-n', namespace, '-6', 'route', 'add', 'default', 'via', `${base6}::1`)
  }

  const startProgram = async (namespace: string, program: string, ...args: string[]) => {
    const child = spawn('ip', ['netns', 'exec', namespace, '/usr/bin/python3', '-c', program, ...args], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    listeners.push(child)
    const line = await within(
      new Promise<string>((resolve, reject) => {
        child.stdout.once('data', (bytes: Buffer) => resolve(bytes.toString().trim()))
        child.once('exit', code => reject(new Error(`a program of the test ended with ${code}`)))
      }),
      'the program of a neighbour',
    )
    return { child, line }
  }
  const listen = async (namespace: string, port: number, program = listener): Promise<void> => {
    await startProgram(namespace, program, String(port))
  }

  const end = async (): Promise<void> => {
    for (const child of listeners) child.kill('SIGKILL')
    for (const namespace of [attacker, container]) await ip('netns', 'del', namespace).catch(() => undefined)
  }

  const connects = async (from: string, source: string, target: string, port: number): Promise<boolean> => {
    const program = ['/usr/bin/python3', '-c', connector, source, target, String(port), String(impatience)]
    return (await run('ip', ['netns', 'exec', from, ...program])).stdout.trim() === 'yes'
  }

  try {
    await link(attacker, 'att0', '10.91.1', 'fd91:1')
    await link(container, 'con0', '10.92.1', 'fd92:1')
    for (const source of Object.values(sources)) {
      const isV6 = source.includes(':')
      await ip(
        '-n',
        attacker,
        'addr',
        'add',
        `${source}/${isV6 ? '128' : '32'}`,
        'dev',
        'eth0',
        ...(isV6 ? ['nodad'] : []),
      )
      if (isV6) await ip('-n', host.name, '-6', 'route', 'add', `${source}/128`, 'dev', 'att0')
      else await ip('-n', host.name, 'route', 'add', `${source}/32`, 'dev', 'att0')
    }
    await ip('netns', 'exec', host.name, 'sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1')
    await listen(host.name, hostPort)
    await listen(host.name, echoPort, echo)
    await listen(container, 80)
    await listen(attacker, hostPort)
  } catch (error) {
    await end()
    throw error
  }

  const hostOf = (source: string): string => (source.includes(':') ? 'fd91:1::1' : '10.91.1.1')
  return {
    reachesHost: source => connects(attacker, source, hostOf(source), hostPort),
    reachesContainer: source => connects(attacker, source, hostOf(source), publishedPort),
    async openConnection(source) {
      const { child } = await startProgram(
        attacker,
        talker,
        source,
        hostOf(source),
        String(echoPort),
        String(impatience),
      )
      return {
        isHeard: () =>
          new Promise(resolve => {
            child.stdout.once('data', (bytes: Buffer) => resolve(bytes.toString().startsWith('yes')))
            child.stdin.write('hello\n')
          }),
      }
    },
    hostReaches: target => connects(host.name, '-', target, hostPort),
    async forgetNeighbours() {
      for (const [namespace, device] of [
        [host.name, 'att0'],
        [attacker, 'eth0'],
      ] as const)
        for (const family of ['-4', '-6']) await ip('-n', namespace, family, 'neigh', 'flush', 'dev', device)
    },
    async knowsLinkOf(address) {
      const { stdout } = await run('ip', ['-n', attacker, 'neigh', 'show', 'to', address, 'dev', 'eth0'])
      return stdout.includes('lladdr')
    },
    insideAttacker: async (...command) => (await run('ip', ['netns', 'exec', attacker, ...command])).stdout,
    runOnHost: async (program, ...args) => (await startProgram(host.name, program, ...args)).line,
    end,
  }
}

/** What Docker does for a published port. The rule switches connection tracking on. */
export async function publishContainer(host: Host): Promise<void> {
  const rules = [
    'add table inet published',
    'add chain inet published pre { type nat hook prerouting priority dstnat; }',
    `add rule inet published pre ip daddr 10.91.1.1 tcp dport ${publishedPort} dnat ip to 10.92.1.2:80`,
    `add rule inet published pre ip6 daddr fd91:1::1 tcp dport ${publishedPort} dnat ip6 to [fd92:1::2]:80`,
  ]
  for (const rule of rules) await host.inside('nft', rule)
}

/** A slow machine may miss the short wait of one attempt, so what must pass is tried again. */
export const passes = (attempt: () => Promise<boolean>, what: string): Promise<void> => until(attempt, what)
