import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { createClient } from '@stockade/client'
import { aHost, missingForHosts } from '../tests/engine/host.ts'
import { account } from './demo.ts'

/*
 * `npm run dev -- host`: a host to try things on, enrolled at the server of `npm run dev`. It has a network namespace, a fail2ban with a copy of
 * the packaged configuration, nftables and the agent from its sources. Needs root. An address on a line is attacked.
 */

const print = (text: string) => process.stdout.write(`${text}\n`)
const port = Number(process.env.STOCKADE_PORT ?? 8420)
const missing = missingForHosts()
if (missing.length > 0) {
  print(`This needs ${missing.join(', ')}.`)
  process.exit(1)
}

const asDemo = async () => {
  const client = createClient({ baseUrl: `http://localhost:${port}` })
  const reply = await client
    .call('POST /auth/login', { body: { username: account.username, password: account.password } })
    .catch(() => {
      print(`No server of the demo answers on port ${port}. Start it with: npm run dev`)
      process.exit(1)
    })
  if (!('access_token' in reply)) throw new Error('The demo asks for no second factor.')
  return createClient({ baseUrl: `http://localhost:${port}`, token: reply.access_token })
}
const admin = await asDemo()
const host = await aHost()
// The server listens on loopback only; the host reaches it through its own link.
const link = createServer(socket => {
  const server = connect(port, '127.0.0.1')
  socket.pipe(server).pipe(socket)
  for (const end of [socket, server]) end.on('error', () => void (socket.destroy(), server.destroy()))
})
await new Promise<void>(resolve => link.listen(port, host.gateway, resolve))
const { id, install_command } = await admin.call('POST /servers', { body: { hostname: host.name } })
await host.startAgent({
  baseUrl: `http://${host.gateway}:${port}`,
  token: install_command.split(' ').at(-1) ?? '',
  args: ['--verbose'],
})
print(`
Host ${host.name} is enrolled. Its files, with agent.log, are in ${host.directory}
  a shell in its network    ip netns exec ${host.name} bash
  its fail2ban              ip netns exec ${host.name} fail2ban-client -c ${host.f2bConfig} status
Type an address to attack the host from it (three failed logins), such as 203.0.113.7. Ctrl-C removes the host.`)

const lines = createInterface({ input: process.stdin })
lines.on('line', line => {
  const ip = line.trim()
  if (ip !== '') void host.attack(ip).then(() => print(`${ip} failed to sign in three times.`))
})
let isEnding = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (isEnding) return
    isEnding = true
    lines.close()
    link.close()
    void host
      .stop()
      .then(() => admin.call('DELETE /servers/{serverId}', { params: { serverId: id } }))
      .catch(() => print(`Server ${host.name} could not be removed from the dashboard.`))
      .finally(() => process.exit(0))
  })
