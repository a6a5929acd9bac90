import { execFile, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { within } from '../../packages/server/src/testing/waiting.ts'

const run = promisify(execFile)

/**
 * Two network namespaces side by side: a host with nftables of its own and something that listens on ports, and clients
 * with many addresses that knock and connect. Real sockets, in a small program on each side.
 */
export interface Neighbours {
  /** The nft program inside the host. */
  readonly nft: readonly string[]
  readonly host: { readonly 4: string; readonly 6: string }
  /** An address of the clients that nobody has used yet. */
  client(family: 4 | 6): string
  /** Runs nft inside the host; its standard output. */
  rules(...words: string[]): Promise<string>
  knock(from: string, protocol: 'tcp' | 'udp', ports: readonly number[], gap?: number): Promise<void>
  /** Whether the echo on a port of the host answers that address at once; a busy machine may take an open port for a closed one. */
  reaches(from: string, protocol: 'tcp' | 'udp', port: number): Promise<boolean>
  /** Whether it answers at all: one packet, and as much time for the answer as a busy machine needs. */
  opens(from: string, protocol: 'tcp' | 'udp', port: number): Promise<boolean>
  /** A TCP connection that stays. */
  connect(from: string, port: number): Promise<Held>
  close(): void
}
export interface Held {
  /** Whether what is said into it comes back. */
  echoes(): Promise<boolean>
  /** Whether nothing of it comes back at once. */
  isSilent(): Promise<boolean>
}
/** What is dropped is silent, so nothing more is learnt by a longer wait. What passes has more time. Seconds. */
const [impatience, patience] = [0.6, 60]

/** Echoes on TCP and UDP ports, IPv4 and IPv6. */
const LISTENER = `
import selectors, socket, sys
chosen = selectors.DefaultSelector()
for port in map(int, sys.argv[1:]):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(socket.AF_INET6, kind)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(('::', port))
        if kind == socket.SOCK_STREAM: s.listen(100)
        chosen.register(s, selectors.EVENT_READ, 'new' if kind == socket.SOCK_STREAM else 'datagram')
print('ready', flush=True)
while True:
    for key, _ in chosen.select():
        s = key.fileobj
        try:
            if key.data == 'new':
                c, _ = s.accept()
                chosen.register(c, selectors.EVENT_READ, 'stream')
            elif key.data == 'datagram':
                data, peer = s.recvfrom(100)
                s.sendto(data, peer)
            else:
                data = s.recv(100)
                if data: s.sendall(data)
                else: chosen.unregister(s); s.close()
        except OSError:
            if key.data == 'stream': chosen.unregister(s); s.close()
`

/** Takes orders as lines of JSON and answers them as they are done. */
const CLIENT = `
import json, socket, sys, threading, time
held = {}
lock = threading.Lock()
def a_socket(order):
    family = socket.AF_INET6 if ':' in order['from'] else socket.AF_INET
    s = socket.socket(family, socket.SOCK_STREAM if order['protocol'] == 'tcp' else socket.SOCK_DGRAM)
    s.setsockopt(socket.IPPROTO_IPV6 if ':' in order['from'] else socket.IPPROTO_IP, 78 if ':' in order['from'] else 15, 1)  # FREEBIND
    s.bind((order['from'], 0))
    s.settimeout(order['wait'])
    return s
def echoes(s):
    try:
        s.send(b'hello')
        return s.recv(100) == b'hello'
    except OSError:
        return False
def work(order):
    what = order['what']
    if what == 'knock':
        for i, port in enumerate(order['ports']):
            if i > 0: time.sleep(order['gap'])
            s = a_socket(order)
            s.setblocking(False)
            try: s.connect_ex((order['to'], port)) if order['protocol'] == 'tcp' else s.sendto(b'k', (order['to'], port))
            finally: s.close()
        return True
    if what == 'reach':
        s = a_socket(order)
        try:
            s.connect((order['to'], order['port']))
            return echoes(s)
        except OSError:
            return False
        finally:
            s.close()
    if what == 'connect':
        s = a_socket(order)
        s.connect((order['to'], order['port']))
        held[order['id']] = s
        return echoes(s)
    held[order['held']].settimeout(order['wait'])
    return echoes(held[order['held']])
def answer(order):
    try: said = {'id': order['id'], 'answer': work(order)}
    except Exception as error: said = {'id': order['id'], 'error': repr(error)}
    with lock: print(json.dumps(said), flush=True)
for line in sys.stdin:
    threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()
`

export async function neighbours(ports: readonly number[]): Promise<Neighbours> {
  const id = randomBytes(3).toString('hex')
  const [host, clients] = [`skh${id}`, `skc${id}`]
  const children: ReturnType<typeof spawn>[] = []
  const close = (): void => {
    process.off('exit', close)
    for (const child of children) child.kill('SIGKILL')
    for (const name of [host, clients]) {
      try {
        execFileSync('ip', ['netns', 'del', name], { stdio: 'ignore' })
      } catch {
        // It was not made.
      }
    }
  }
  process.on('exit', close)
  try {
    for (const name of [host, clients]) await run('ip', ['netns', 'add', name])
    const mac = ['02:00:00:00:07:01', '02:00:00:00:07:02'] as const
    const link = `link add eth0 netns ${host} address ${mac[0]} type veth peer name eth0 netns ${clients} address ${mac[1]}`
    await run('ip', link.split(' '))
    // Whole networks of addresses without adding each: the clients own what is routed to their loopback.
    const commands = [
      [host, 'addr add 10.7.0.1/16 dev eth0'],
      [host, 'addr add fd07::1/64 dev eth0 nodad'],
      [clients, 'addr add 10.7.255.254/16 dev eth0'],
      [clients, 'addr add fd07::ffff/64 dev eth0 nodad'],
      ...[host, clients].flatMap(name => [
        [name, 'link set lo up'],
        [name, 'link set eth0 up'],
      ]),
      // Who borrows addresses can't answer for them when the kernel asks around: nobody has to ask.
      ...['10.7.0.1', 'fd07::1'].map(ip => [clients, `neigh replace ${ip} lladdr ${mac[0]} dev eth0 nud permanent`]),
      ...['10.7.255.254', 'fd07::ffff'].map(ip => [
        host,
        `neigh replace ${ip} lladdr ${mac[1]} dev eth0 nud permanent`,
      ]),
      [clients, 'route add local 10.7.1.0/24 dev lo'],
      [clients, 'route add local fd07:0:0:1::/64 dev lo'],
      [host, 'route add 10.7.1.0/24 via 10.7.255.254'],
      [host, 'route add fd07:0:0:1::/64 via fd07::ffff'],
    ]
    for (const [name = '', words = ''] of commands) await run('ip', ['-n', name, ...words.split(' ')])

    const listener = spawn('ip', ['netns', 'exec', host, 'python3', '-c', LISTENER, ...ports.map(String)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(listener)
    await within(
      new Promise((resolve, reject) => {
        listener.stdout.once('data', resolve)
        listener.once('exit', () => reject(new Error('the listener ended')))
      }),
      'the listener',
    )
    const program = spawn('ip', ['netns', 'exec', clients, 'python3', '-u', '-c', CLIENT], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    children.push(program)
    const waiting = new Map<number, { resolve: (answer: boolean) => void; reject: (error: Error) => void }>()
    createInterface({ input: program.stdout }).on('line', line => {
      const said = JSON.parse(line) as { id: number; answer?: boolean; error?: string }
      const waiter = waiting.get(said.id)
      waiting.delete(said.id)
      if (said.error === undefined) waiter?.resolve(said.answer === true)
      else waiter?.reject(new Error(said.error))
    })
    let orders = 0
    const order = (what: Record<string, unknown>): { id: number; done: Promise<boolean> } => {
      const id = (orders += 1)
      const done = new Promise<boolean>((resolve, reject) => waiting.set(id, { resolve, reject }))
      program.stdin.write(`${JSON.stringify({ id, ...what })}\n`)
      return { id, done }
    }
    const addresses = { 4: '10.7.0.1', 6: 'fd07::1' } as const
    const to = (from: string): string => addresses[from.includes(':') ? 6 : 4]
    let used = 0
    const reach = (from: string, protocol: 'tcp' | 'udp', port: number, wait: number): Promise<boolean> =>
      order({ what: 'reach', from, to: to(from), protocol, port, wait }).done

    return {
      nft: ['ip', 'netns', 'exec', host, 'nft'],
      host: addresses,
      client(family) {
        used += 1
        return family === 4 ? `10.7.1.${used}` : `fd07:0:0:1::${used.toString(16)}`
      },
      rules: async (...words) => (await run('ip', ['netns', 'exec', host, 'nft', ...words])).stdout,
      async knock(from, protocol, ports, gap = 0.05) {
        await order({ what: 'knock', from, to: to(from), protocol, ports, gap, wait: 0 }).done
      },
      reaches: (from, protocol, port) => reach(from, protocol, port, impatience),
      opens: (from, protocol, port) => reach(from, protocol, port, patience),
      async connect(from, port) {
        const wait = patience
        const { id: held, done } = order({ what: 'connect', protocol: 'tcp', from, to: to(from), port, wait })
        if (!(await done)) throw new Error(`${from} has no connection to port ${port}`)
        return {
          echoes: () => order({ what: 'say', held, wait }).done,
          isSilent: async () => !(await order({ what: 'say', held, wait: impatience }).done),
        }
      },
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}
