import { createBan, createServer, getCommand, listBans, listServers, setUp } from './generated/index'
import type { Command } from './generated/index'
import { client } from './generated/client.gen'

/* The scenario of clients.long.test.ts with the functions and types of Hey API. */

client.setConfig({ baseUrl: process.env.STOCKADE_URL ?? '' })
const signedIn = await setUp({
  body: {
    code: process.env.STOCKADE_SETUP_CODE ?? '',
    username: 'admin',
    email: 'admin@stockade.example',
    password: 'Correct-Horse-7',
  },
  throwOnError: true,
})
client.setConfig({ auth: signedIn.data.access_token })

const created = await createServer({ body: { hostname: 'web-01.example' }, throwOnError: true })
const path = { serverId: created.data.id }
const servers = await listServers({ query: { status: 'pending', limit: 10 }, throwOnError: true })
const bans = await listBans({ query: { q: 'jail:sshd' }, throwOnError: true })
const banned = await createBan({
  path,
  body: { ip: '203.0.113.9', jail: 'sshd', duration: 600 },
  throwOnError: true,
})
const read = await getCommand({ path: { commandId: banned.data.command_id }, throwOnError: true })
const command: Command = read.data
const refused = await createBan({ path, body: { ip: 'nonsense' } })

process.stdout.write(
  JSON.stringify({
    hostnames: servers.data.servers.map(({ hostname }) => hostname),
    bans: bans.data.total,
    command: { type: command.type, status: command.status, server: command.server.hostname },
    refused: refused.error?.details?.map(detail => detail.path),
  }),
)
