import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aLicence, authority, raw } from '../../packages/server/src/testing/index.ts'
import { aHost, describeHosts, until } from '../engine/host.ts'
import type { Host } from '../engine/host.ts'
import { online } from '../engine/scenarios.ts'
import { has, makeCertificates, readRsyslog, readSyslogNg, startRsyslog, startSyslogNg } from '../siem/programs.ts'
import type { Certificates, Got, Receiver } from '../siem/programs.ts'
import { aRealServer } from './real-server.ts'
import type { RealServer } from './real-server.ts'

/* A host is attacked, somebody fails to sign in, the whitelist changes: a real collector holds each of these, by its id. */
describeHosts('what happens stands in the SIEM, end to end', () => {
  let server: RealServer
  let host: Host
  let certificates: Certificates
  let id = ''
  beforeAll(async () => {
    certificates = makeCertificates()
    server = await aRealServer(() => ({
      STOCKADE_LICENSE_PUBLIC_KEY: authority.publicKey,
      STOCKADE_LICENSE_KEY: aLicence(),
    }))
    host = await aHost()
    const { serverId, token } = await server.addServer(host.name)
    id = serverId
    await host.startAgent({ baseUrl: server.url(host), token })
    await online({ host, server, serverId })
  })
  afterAll(async () => {
    await host?.stop()
    await server?.close()
    certificates?.close()
  })

  const run = async (receiver: Receiver, read: (receiver: Receiver) => Got[], ip: string) => {
    const admin = server.admin()
    const { hostname } = await admin.call('GET /servers/{serverId}', { params: { serverId: id } })
    await admin.call('PATCH /siem/settings', { body: { enabled: false } })
    await admin.call('DELETE /siem/queue')
    await admin.call('PATCH /siem/settings', {
      body: {
        enabled: true,
        format: 'syslog',
        host: 'localhost',
        protocol: 'tcp',
        port: receiver.ports.tls,
        tls_enabled: true,
        ca_cert: certificates.ca,
        flush_interval: 3600,
      },
    })
    await host.attack(ip, { user: 'mallory' })
    await raw({ url: `http://127.0.0.1:${server.port}` }, 'POST', '/api/v1/auth/login', {
      body: { username: 'mallory', password: 'guess' },
    })
    const entry = await admin.call('POST /whitelist', { body: { ip: '192.0.2.99', description: 'a desk' } })
    await admin.call('DELETE /whitelist/{id}', { params: { id: entry.id } })
    const wanted = ['ban', 'login_failed', 'whitelist_add', 'whitelist_remove']
    const queued = async () => (await admin.call('GET /siem/queue')).events
    await until(async () => {
      const types = (await queued()).map(({ type }) => type as string)
      return wanted.every(type => types.includes(type))
    }, 'the events in the queue')
    const events = await queued()
    expect((await admin.call('POST /siem/flush')).events_failed).toBe(0)
    const known = (id: string) => read(receiver).filter(message => message.id === id)
    await until(() => Promise.resolve(events.every(({ id }) => known(id).length > 0)), 'every event at the collector')
    for (const { id, type } of events) expect(known(id), type).toMatchObject([{ type, facility: '10' }])
    const [ban] = events.filter(({ type }) => type === 'ban').flatMap(({ id }) => known(id))
    expect(ban?.params).toMatchObject({ ip, jail: 'sshd', server: hostname })
    const [failed] = events.filter(({ type }) => type === 'login_failed').flatMap(({ id }) => known(id))
    expect(failed?.params).toMatchObject({ user: 'mallory', ip: '127.0.0.1' })
  }

  describe.skipIf(!has.rsyslog)('rsyslog over TLS', () => {
    test('holds every event, fields intact', async () => {
      const receiver = await startRsyslog(certificates)
      await run(receiver, readRsyslog, '203.0.113.151').finally(() => receiver.close())
    })
  })
  describe.skipIf(!has.syslogNg)('syslog-ng over TLS', () => {
    test('holds every event, fields intact', async () => {
      const receiver = await startSyslogNg(certificates)
      await run(receiver, readSyslogNg, '203.0.113.152').finally(() => receiver.close())
    })
  })
})
