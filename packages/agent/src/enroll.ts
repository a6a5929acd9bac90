import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { hostname } from 'node:os'
import { checkBaseUrl, refusePlainHttp, saveIdentity } from './config.ts'
import { createEngine } from './engine/engine.ts'
import { machineDigest } from './host.ts'
import { osName } from './metrics.ts'
import { oneOffTransport } from './one-off.ts'
import type { Options } from './options.ts'
import { checkPins } from './pins.ts'
import { proxyFromEnvironment, readProxy } from './proxy.ts'
import { agentVersion } from './version.ts'
import { enroll } from './wire.ts'

/** Exchanges the one-time token for this host's key, which is written to the disk before anything else. */
export const enrollHost = async (options: Options, env: NodeJS.ProcessEnv): Promise<string> => {
  const token = readToken(options, env)
  if (options.baseUrl === null) throw new Error('--base-url is missing: the address of the Stockade server')
  const baseUrl = checkBaseUrl(options.baseUrl)
  refusePlainHttp(baseUrl, options.insecureHttp)
  checkPins(options.pins)
  if (options.pins.length > 0 && !baseUrl.startsWith('https:')) throw new Error('--pin needs an https base URL')
  const proxy = proxyFromEnvironment(baseUrl, env)
  if (proxy !== null) readProxy(proxy)
  const ca = options.ca === null ? null : fs.readFileSync(options.ca, 'utf8')
  const transport = oneOffTransport({ baseUrl, apiKey: null, ca, pins: options.pins, proxy })
  try {
    const agentId = randomUUID()
    const enrolled = await enroll(transport, {
      token,
      hostname: hostname().slice(0, 253),
      os: osName(),
      engine_version: await engineVersion(options.f2bSocket),
      agent_version: agentVersion,
      agent_id: agentId,
      machine: machineDigest(token),
    })
    saveIdentity(options.config, {
      base_url: baseUrl,
      ...enrolled,
      agent_id: agentId,
      ca,
      pins: options.pins,
      proxy,
      insecure_http: options.insecureHttp,
      backfill: options.backfill,
      unsigned: options.allowUnsigned,
    })
    return enrolled.server_id
  } finally {
    transport.close()
  }
}

const readToken = (options: Options, env: NodeJS.ProcessEnv): string => {
  const text =
    options.token ??
    (options.tokenFile === null ? env['STOCKADE_TOKEN'] : fs.readFileSync(options.tokenFile, 'utf8')) ??
    ''
  const token = text.trim()
  if (!/^[A-Za-z0-9._~+/=-]{8,512}$/.test(token))
    throw new Error('the token is missing: --token, --token-file or STOCKADE_TOKEN')
  return token
}

const engineVersion = async (socket: string | null): Promise<string> => {
  const engine = createEngine({
    socketPath: socket ?? '/var/run/fail2ban/fail2ban.sock',
    onUp: () => undefined,
    onDown: () => undefined,
  })
  try {
    await engine.ping()
    return engine.version() ?? ''
  } catch {
    // Enrolment does not wait for fail2ban: the first heartbeat reports its version.
    return ''
  } finally {
    engine.close()
  }
}
