import type { Neighbours } from './neighbours.ts'

/* Packets made by hand, sent by the attackers of a host. The kernel of the sender fills in the headers that are not given. */

/** ICMP and IGMP over IPv4 need their checksum from here; the kernel computes that of ICMPv6. */
const sender = `
import socket, sys
source, target, protocol, hops, body = sys.argv[1:6]
protocol, hops, body = int(protocol), int(hops), bytearray.fromhex(body)
is6 = ":" in source
s = socket.socket(socket.AF_INET6 if is6 else socket.AF_INET, socket.SOCK_RAW, protocol)
s.bind((source, 0))
if is6: s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, hops)
else: s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, hops)
if not is6 and protocol in (1, 2):
  total = sum(int.from_bytes(body[i:i + 2].ljust(2, b"\\0"), "big") for i in range(0, len(body), 2))
  while total >> 16: total = (total & 0xffff) + (total >> 16)
  body[2:4] = (~total & 0xffff).to_bytes(2, "big")
s.sendto(bytes(body), (target, 0))
`
/** Sends one datagram and says whether it is answered. */
const asker = `
import socket, sys
source, port, target, targetPort, wait = sys.argv[1:6]
s = socket.socket(socket.AF_INET6 if ":" in source else socket.AF_INET, socket.SOCK_DGRAM)
s.bind((source, int(port))); s.settimeout(float(wait)); s.sendto(b"hello", (target, int(targetPort)))
try: print("yes" if s.recv(64) else "no")
except OSError: print("no")
`
/** Answers each datagram on some ports, over both families. */
export const udpEcho = `
import select, socket, sys
def bound(port):
  s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
  s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0); s.bind(("::", int(port)))
  return s
sockets = [bound(port) for port in sys.argv[1:]]
print("ready", flush=True)
while True:
  for s in select.select(sockets, [], [])[0]:
    data, sender = s.recvfrom(64)
    s.sendto(data, sender)
`
/** Sends one datagram, says from which port, and keeps the socket. */
export const udpClient = `
import socket, sys
target, port = sys.argv[1:3]
s = socket.socket(socket.AF_INET6 if ":" in target else socket.AF_INET, socket.SOCK_DGRAM)
s.connect((target, int(port))); s.send(b"hello")
print(s.getsockname()[1], flush=True); sys.stdin.read()
`

export interface Crafted {
  readonly source: string
  readonly target: string
  readonly protocol: number
  readonly hops: number
  readonly body: Buffer
}

const udp = 17
export const icmp4 = 1
export const icmp6 = 58
const isV6 = (address: string): boolean => address.includes(':')
/** A silent peer is known to be silent after this time, seconds. */
const impatience = 1.5

export const send = (neighbours: Neighbours, { source, target, protocol, hops, body }: Crafted): Promise<string> =>
  neighbours.insideAttacker(
    ...['/usr/bin/python3', '-c', sender, source, target, String(protocol), String(hops), body.toString('hex')],
  )

export interface Ports {
  readonly from: number
  readonly to: number
}

/** Whether a datagram gets an answer within the given number of seconds. */
export const isAnswered = async (
  neighbours: Neighbours,
  [source, target]: readonly [string, string],
  { from, to }: Ports,
  wait = impatience,
): Promise<boolean> => {
  const program = ['/usr/bin/python3', '-c', asker, source, String(from), target, String(to), String(wait)]
  return (await neighbours.insideAttacker(...program)).trim() === 'yes'
}

/** 16 bytes of an IPv6 address without IPv4 notation, 4 of an IPv4 address. */
const bytesOf = (address: string): Buffer => {
  if (!isV6(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail = ''] = address
    .split('::')
    .map(half => half.split(':').filter(group => group !== ''))
    .map(groups => groups.map(group => group.padStart(4, '0')).join(''))
  return Buffer.from(head + tail.padStart(32 - head.length, '0'), 'hex')
}

/** A message of neighbour discovery about `about`: type 135 or 136, with the link address of the sender as its option. */
export const discovery = (type: number, about: string): Buffer =>
  Buffer.concat([
    Buffer.from([type, 0, 0, 0, type === 136 ? 0x60 : 0, 0, 0, 0]),
    bytesOf(about),
    Buffer.from([type === 136 ? 2 : 1, 1, 2, 0, 0, 0, 0, 9]),
  ])

/** The error "packet too big" about a datagram that `sender` sent to `receiver`. */
export const tooBig = (sender: string, receiver: string, { from, to }: Ports, mtu: number): Buffer => {
  const datagram = Buffer.alloc(8)
  datagram.writeUInt16BE(from, 0)
  datagram.writeUInt16BE(to, 2)
  datagram.writeUInt16BE(8, 4)
  const addresses = [bytesOf(sender), bytesOf(receiver)]
  if (isV6(sender)) {
    const error = Buffer.from([2, 0, 0, 0, 0, 0, mtu >> 8, mtu & 255])
    return Buffer.concat([error, Buffer.from([0x60, 0, 0, 0, 0, 8, udp, 64]), ...addresses, datagram])
  }
  const header = Buffer.from([0x45, 0, 0, 28, 0, 0, 0x40, 0, 64, udp, 0, 0])
  const quoted = Buffer.concat([header, ...addresses])
  quoted.writeUInt16BE(checksumOf(quoted), 10)
  return Buffer.concat([Buffer.from([3, 4, 0, 0, 0, 0, mtu >> 8, mtu & 255]), quoted, datagram])
}

const checksumOf = (bytes: Buffer): number => {
  let sum = 0
  for (let at = 0; at < bytes.length; at += 2) sum += bytes.readUInt16BE(at)
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16)
  return ~sum & 0xffff
}
