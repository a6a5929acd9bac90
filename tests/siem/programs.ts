import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { paramOf } from '../../packages/server/src/features/siem/receivers.ts'
import { freePort, until, within } from '../../packages/server/src/testing/index.ts'

/* Debian's rsyslog and syslog-ng, unpacked beside the other caches and started with configurations of the tests' own. */

const root = fileURLToPath(new URL('../../node_modules/.cache/stockade-syslog', import.meta.url))
const places = [root, '']
const found = (...paths: string[]): string | null => {
  for (const place of places) for (const path of paths) if (existsSync(`${place}${path}`)) return `${place}${path}`
  return null
}
const architecture = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }[process.arch as string] ?? ''
const modulesOf = (folder: string) => places.map(place => `${place}${folder}`).filter(path => existsSync(path))
const rsyslogd = found('/usr/sbin/rsyslogd')
const rsyslogModules = modulesOf(`/usr/lib/${architecture}/rsyslog`)
const syslogNg = found('/usr/sbin/syslog-ng')
const ngFolder = found('/usr/lib/syslog-ng')
const ngVersion = ngFolder ? readdirSync(ngFolder).find(name => /^\d+\.\d+$/.test(name)) : undefined

const tlsDriver = rsyslogModules.some(path => existsSync(`${path}/lmnsd_ossl.so`)) ? 'ossl' : null
export const has = {
  rsyslog: rsyslogd !== null && tlsDriver !== null,
  syslogNg: syslogNg !== null && ngVersion !== undefined,
}
if (!has.rsyslog || !has.syslogNg)
  process.stderr.write('stockade: rsyslog or syslog-ng is missing: its tests are SKIPPED\n')

export interface Receiver {
  readonly ports: { readonly tcp: number; readonly tls: number; readonly udp: number }
  /** What it took, parsed by itself: one object a message. */
  messages(): Record<string, unknown>[]
  close(): Promise<void>
}
export interface Certificates {
  /** PEM of the authority. */
  readonly ca: string
  readonly folder: string
  readonly close: () => void
}

const openssl = (folder: string, ...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
/** An authority of the test's own, and what it signed: `good`, `expired` and `other` (for another name); `self` signed itself. */
export const makeCertificates = (): Certificates => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-certificates-'))
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const ofAuthority = ['-addext', 'basicConstraints=critical,CA:TRUE', '-days', '30']
  openssl(
    folder,
    'req',
    '-x509',
    ...key,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=Test authority',
    ...ofAuthority,
  )
  openssl(
    folder,
    'req',
    '-x509',
    ...key,
    '-keyout',
    'self.key',
    '-out',
    'self.pem',
    '-subj',
    '/CN=localhost',
    '-days',
    '30',
  )
  for (const [name, altName, dates] of [
    ['good', 'DNS:localhost,IP:127.0.0.1', ['-days', '30']],
    ['other', 'DNS:elsewhere.example', ['-days', '30']],
    ['expired', 'DNS:localhost,IP:127.0.0.1', ['-days', '-1']],
  ] as const) {
    openssl(folder, 'req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`)
    writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${altName}\n`)
    const sign = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', `${name}.ext`]
    openssl(folder, 'x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...sign, ...dates)
  }
  return {
    folder,
    ca: readFileSync(join(folder, 'ca.pem'), 'utf8'),
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const listens = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
const start = async (
  configure: (
    ports: Receiver['ports'],
    out: string,
    folder: string,
  ) => { config: string; command: string; args: string[] },
): Promise<Receiver> => {
  const folder = mkdtempSync(join(tmpdir(), 'stockade-syslog-'))
  const ports = { tcp: await freePort(), tls: await freePort(), udp: await freePort() }
  const out = join(folder, 'out.json')
  const { config, command, args } = configure(ports, out, folder)
  writeFileSync(join(folder, 'config'), config)
  const libraries = [`${root}/usr/lib/${architecture}`, `${root}/lib/${architecture}`, `${root}/usr/lib/syslog-ng`]
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, LD_LIBRARY_PATH: libraries.join(':') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stdout.on('data', data => (said += String(data)))
  child.stderr.on('data', data => (said += String(data)))
  const ended = new Promise(resolve => child.once('exit', resolve))
  await until(
    async () => child.exitCode !== null || ((await listens(ports.tcp)) && (await listens(ports.tls))),
    `${command} to listen`,
    () => said,
  ).catch((error: unknown) => {
    child.kill('SIGKILL')
    throw error
  })
  if (child.exitCode !== null) throw new Error(`${command} did not start:\n${said}`)
  return {
    ports,
    messages: () =>
      existsSync(out)
        ? readFileSync(out, 'utf8')
            .split('\n')
            .filter(line => line !== '')
            .map(line => JSON.parse(line) as Record<string, unknown>)
        : [],
    async close() {
      child.kill('SIGKILL')
      await within(ended, `the end of ${command}`)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const startRsyslog = ({ folder: certificates }: Certificates): Promise<Receiver> =>
  start((ports, out, folder) => ({
    command: rsyslogd ?? '',
    args: ['-n', '-f', join(folder, 'config'), '-i', join(folder, 'pid'), '-M', rsyslogModules.join(':')],
    config: `
global(workDirectory="${folder}" maxMessageSize="128k"
  defaultNetstreamDriverCAFile="${certificates}/ca.pem"
  defaultNetstreamDriverCertFile="${certificates}/good.pem" defaultNetstreamDriverKeyFile="${certificates}/good.key")
module(load="imtcp")
module(load="imudp")
template(name="parsed" type="list") { property(name="jsonmesg") constant(value="\\n") }
input(type="imtcp" port="${ports.tcp}" address="127.0.0.1")
input(type="imtcp" port="${ports.tls}" address="127.0.0.1" streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="anon")
input(type="imudp" port="${ports.udp}" address="127.0.0.1")
action(type="omfile" file="${out}" template="parsed")
`,
  }))

export const startSyslogNg = ({ folder: certificates }: Certificates): Promise<Receiver> =>
  start((ports, out, folder) => ({
    command: syslogNg ?? '',
    args: [
      '-F',
      '--no-caps',
      `--cfgfile=${join(folder, 'config')}`,
      `--persist-file=${join(folder, 'persist')}`,
      `--pidfile=${join(folder, 'pid')}`,
      `--control=${join(folder, 'control')}`,
      `--module-path=${ngFolder ?? ''}/${ngVersion ?? ''}`,
    ],
    config: `@version: ${ngVersion ?? ''}
options { keep-hostname(yes); log-msg-size(131072); };
source s_tcp { syslog(ip(127.0.0.1) port(${ports.tcp}) transport("tcp")); };
source s_tls { syslog(ip(127.0.0.1) port(${ports.tls}) transport("tls")
  tls(key-file("${certificates}/good.key") cert-file("${certificates}/good.pem") peer-verify(optional-untrusted))); };
source s_udp { syslog(ip(127.0.0.1) port(${ports.udp}) transport("udp")); };
destination d_file { file("${out}" template("$(format-json --scope rfc5424 --scope nv-pairs --key .SDATA.*)\\n")); };
log { source(s_tcp); source(s_tls); source(s_udp); destination(d_file); };
`,
  }))

/** One message as the receiver took it apart. */
export interface Got {
  readonly id: string
  readonly type: string
  readonly params: Record<string, string | null>
  readonly message: string
  readonly facility: string
  readonly severity: string
}
const names = ['id', 'type', 'severity', 'ip', 'jail', 'server', 'user'] as const
const textOf = (message: Record<string, unknown>) => (name: string) => {
  const value = message[name]
  return typeof value === 'string' ? value : ''
}
const withoutBom = (text: string) => text.replace(/^\ufeff/, '')

export const readRsyslog = (receiver: Receiver): Got[] =>
  receiver.messages().map(message => {
    const text = textOf(message)
    const data = text('structured-data')
    return {
      id: paramOf(data, 'id') ?? '',
      type: text('msgid'),
      params: Object.fromEntries(names.map(name => [name, paramOf(data, name)])),
      message: withoutBom(text('msg')),
      facility: text('syslogfacility'),
      severity: text('syslogseverity'),
    }
  })
export const readSyslogNg = (receiver: Receiver): Got[] =>
  receiver.messages().map(message => {
    const text = textOf(message)
    const data = (message._SDATA as Record<string, Record<string, string>> | undefined)?.['stockade@32473'] ?? {}
    return {
      id: data.id ?? '',
      type: text('MSGID'),
      params: data,
      message: withoutBom(text('MESSAGE')),
      facility: text('FACILITY') === 'authpriv' ? '10' : text('FACILITY'),
      severity: text('PRIORITY'),
    }
  })
