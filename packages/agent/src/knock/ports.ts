import { readText } from '../files.ts'

const listenState = '0A'
const unconnectedState = '07'

/** The ports on which programs of this host listen for other machines, from the kernel's tables. */
export const listeningPorts = (
  protocol: 'tcp' | 'udp',
  read: (path: string) => string | null = readText,
): Set<number> => {
  const state = protocol === 'tcp' ? listenState : unconnectedState
  const ports = new Set<number>()
  for (const table of [protocol, `${protocol}6`]) {
    for (const line of (read(`/proc/net/${table}`) ?? '').split('\n').slice(1)) {
      const [, local = '', remote = '', is] = line.trim().split(/\s+/)
      const [address = '', port = ''] = local.split(':')
      if (is === state && /:0000$/.test(remote) && !isLoopback(address)) ports.add(parseInt(port, 16))
    }
  }
  return ports
}

/** Loopback addresses, in the byte order of a little-endian machine: other machines cannot reach them. */
const isLoopback = (address: string): boolean =>
  /^[0-9A-F]{6}7F$/i.test(address) || /^0{24}01000000$/.test(address) || /^0{16}FFFF0000[0-9A-F]{6}7F$/i.test(address)
