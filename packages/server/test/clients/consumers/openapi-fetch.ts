import createClient from 'openapi-fetch'
import type { components, paths } from './generated.d.ts'

/* The scenario of clients.long.test.ts with the types of openapi-typescript and the client of openapi-fetch. */

const baseUrl = process.env.STOCKADE_URL ?? ''
const anonymous = createClient<paths>({ baseUrl })
const setUp = await anonymous.POST('/api/v1/setup', {
  body: {
    code: process.env.STOCKADE_SETUP_CODE ?? '',
    username: 'admin',
    email: 'admin@stockade.example',
    password: 'Correct-Horse-7',
  },
})
if (!setUp.data) throw new Error(setUp.error.message)
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${setUp.data.access_token}` } })

const created = await client.POST('/api/v1/servers', { body: { hostname: 'web-01.example' } })
if (!created.data) throw new Error(created.error.message)
const path = { serverId: created.data.id }
const servers = await client.GET('/api/v1/servers', { params: { query: { status: 'pending', limit: 10 } } })
const bans = await client.GET('/api/v1/bans', { params: { query: { q: 'jail:sshd' } } })
const banned = await client.POST('/api/v1/servers/{serverId}/bans', {
  params: { path },
  body: { ip: '203.0.113.9', jail: 'sshd', duration: 600 },
})
if (!banned.data) throw new Error(banned.error.message)
const read = await client.GET('/api/v1/commands/{commandId}', {
  params: { path: { commandId: banned.data.command_id } },
})
const command: components['schemas']['Command'] | undefined = read.data
const refused = await client.POST('/api/v1/servers/{serverId}/bans', { params: { path }, body: { ip: 'nonsense' } })

process.stdout.write(
  JSON.stringify({
    hostnames: servers.data?.servers.map(({ hostname }) => hostname),
    bans: bans.data?.total,
    command: { type: command?.type, status: command?.status, server: command?.server.hostname },
    refused: refused.error?.details?.map(detail => detail.path),
  }),
)
