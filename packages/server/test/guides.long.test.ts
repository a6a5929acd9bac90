import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { guideBlocks } from '../src/testing/guides.ts'
import { aHost, engine, freePort, freshDatabase, spawnServer } from '../src/testing/index.ts'

/*
 * Runs the commands of the guides word for word against a real server. The machine's own programs (sudo, systemctl, apt) are scripts of
 * the test that does the same to that server; tests/ship uses the real ones.
 */
const checkout = fileURLToPath(new URL('../../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'stockade-guides-'))
const services: string[] = []
afterAll(() => {
  // Of a test that failed before its end.
  for (const pidFile of services) if (existsSync(pidFile)) process.kill(Number(readFileSync(pidFile, 'utf8')))
  rmSync(folder, { recursive: true, force: true })
})

/** A machine with a service whose data is in `data`. */
const aMachine = async (name: string, env: Readonly<Record<string, string>> = {}) => {
  const home = join(folder, name)
  const programs = join(home, 'bin')
  mkdirSync(programs, { recursive: true })
  const port = await freePort()
  const settings = {
    STOCKADE_DATA_DIR: join(home, 'data'),
    STOCKADE_HOST: '127.0.0.1',
    STOCKADE_PORT: String(port),
    STOCKADE_LOG_LEVEL: 'error',
    ...env,
  }
  const program = (file: string, text: string) => {
    writeFileSync(join(programs, file), `#!/bin/sh\nset -eu\n${text}\n`)
    chmodSync(join(programs, file), 0o755)
  }
  const pidFile = join(home, 'pid')
  services.push(pidFile)
  const node = process.execPath
  program('sudo', 'exec "$@"')
  program('apt', `echo "apt $*" >> ${home}/apt.log\nsystemctl restart stockade`)
  program('stockade', `exec ${node} ${checkout}scripts/stockade.cjs "$@"`)
  program(
    'systemctl',
    `stop() {
  [ ! -f ${pidFile} ] || { kill "$(cat ${pidFile})"; while kill -0 "$(cat ${pidFile})" 2>/dev/null; do sleep 0.1; done; rm ${pidFile}; }
}
start() {
  ${node} ${checkout}packages/server/src/main.ts > ${home}/log 2>&1 &
  echo $! > ${pidFile}
  MAINPID=$! ${node} ${checkout}packaging/wait-ready.mjs
}
case "$1" in stop) stop ;; start) start ;; restart) stop; start ;; disable) ;; *) exit 2 ;; esac`,
  )
  const environment = { ...process.env, ...settings, PATH: [programs, process.env.PATH].join(delimiter) }
  /** The commands of a block, one after the other, until one fails. */
  const run = (block: string): Promise<{ readonly code: number; readonly out: string }> =>
    new Promise(resolve =>
      execFile('sh', ['-euc', block], { cwd: home, env: environment }, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, out: out + err }),
      ),
    )
  return { home, url: `http://127.0.0.1:${port}`, settings, run, dataDir: settings.STOCKADE_DATA_DIR }
}
type Machine = Awaited<ReturnType<typeof aMachine>>
const succeeds = async ({ run }: Machine, block: string) => {
  const { code, out } = await run(block)
  expect({ code, out }, block).toMatchObject({ code: 0 })
  return out
}
/** Sets an installation up with one host, and stops it. */
const install = async ({ dataDir }: Machine, hostname: string) => {
  const server = await spawnServer({ dataDir })
  await aHost(server, (await server.setUp()).client, hostname)
  await server.stop()
}
const hostsOf = async ({ dataDir }: Machine) => {
  const server = await spawnServer({ dataDir })
  try {
    return (await (await server.signIn()).client.call('GET /servers', {})).servers.map(({ hostname }) => hostname)
  } finally {
    await server.close()
  }
}

describe.runIf(engine === 'sqlite')('the guide', () => {
  test('backup: by hand, and a restore', async () => {
    const machine = await aMachine('backup')
    const identity = await generateIdentity()
    writeFileSync(join(machine.home, 'identity.txt'), `${identity}\n`)
    writeFileSync(join(machine.home, 'passphrase.txt'), 'correct horse battery staple\n')
    await install(machine, 'web-01')
    const [plain = '', encrypted = '', restore = '', ...others] = guideBlocks('backup', 'sh')
    expect(others).toEqual([])
    expect(await succeeds(machine, plain)).toContain('can be restored')
    await succeeds(machine, encrypted.replace('age1...', await identityToRecipient(identity)))
    await succeeds(machine, 'systemctl start stockade')
    expect(await succeeds(machine, restore)).toContain('are in place')
    expect((await fetch(`${machine.url}/api/v1/ready`)).status).toBe(200)
    await succeeds(machine, 'systemctl stop stockade')
    expect(await hostsOf(machine)).toEqual(['web-01'])
  })

  test('upgrade: with the copy, and back', async () => {
    const machine = await aMachine('upgrade')
    await install(machine, 'web-01')
    const file = join(machine.dataDir, 'stockade.sqlite3')
    const db = new DatabaseSync(file)
    for (const column of ['digest', 'changed_at']) db.exec(`alter table feeds drop column ${column}`)
    db.exec("delete from kysely_migration where name = '0063-feed-changes'")
    db.close()
    const [upgrade = '', , back = ''] = guideBlocks('upgrade', 'sh')
    await succeeds(machine, upgrade)
    const [copy = ''] = readdirSync(machine.dataDir).filter(name => name.includes('.before-upgrade-'))
    expect(copy).not.toBe('')
    const command = back.replace('/var/lib/stockade/stockade.sqlite3.before-upgrade-TIME', join(machine.dataDir, copy))
    expect(command).not.toBe(back)
    // The "older version" here is the same one, and upgrades the copy again when it starts.
    const [before = '', after = ''] = command.split(/^(?=sudo systemctl start)/m)
    await succeeds(machine, before.replace(/^sudo apt.*\n/m, ''))
    const old = new DatabaseSync(file)
    expect(old.prepare("select 1 from kysely_migration where name = '0063-feed-changes'").get()).toBeUndefined()
    old.close()
    await succeeds(machine, after)
    await succeeds(machine, 'systemctl stop stockade')
    expect(await hostsOf(machine)).toEqual(['web-01'])
  })

  test('moving: to another machine with what hosts are bound to', async () => {
    const old = await aMachine('old', { STOCKADE_TLS: 'self' })
    const fresh = await aMachine('new', { STOCKADE_TLS: 'self' })
    await install(old, 'web-01')
    await succeeds(old, 'systemctl start stockade')
    await succeeds(fresh, 'systemctl start stockade')
    const passphrase = join(folder, 'passphrase')
    writeFileSync(passphrase, 'correct horse battery staple\n')
    const [away = '', there = '', ...others] = guideBlocks('moving', 'sh').map(block =>
      block.replaceAll('/etc/stockade/passphrase', passphrase),
    )
    expect(others).toEqual([])
    await succeeds(old, away)
    writeFileSync(join(fresh.home, 'moving.age'), readFileSync(join(old.home, 'moving.age')))
    expect(await succeeds(fresh, there)).toMatch(/^ok +the certificate/m)
    await succeeds(fresh, 'systemctl stop stockade')
    const keyOf = ({ dataDir }: Machine) => readFileSync(join(dataDir, 'tls.key'), 'utf8')
    expect(keyOf(fresh)).toBe(keyOf(old))
    expect(await hostsOf(fresh)).toEqual(['web-01'])
  })

  test('high availability: a secret of all processes, and a restart', async () => {
    const secret = join(folder, 'shared.key')
    const machine = await aMachine('pair', { STOCKADE_SECRET_KEY_FILE: secret })
    const [make = '', restart = '', ...others] = guideBlocks('high-availability', 'sh')
    expect(others).toEqual([])
    // The user of the service is the package's.
    await succeeds(
      machine,
      make.replaceAll('/etc/stockade/secret.key', secret).replace('chown root:stockade', 'chown 0:0'),
    )
    expect(await succeeds(machine, restart.replace('http://127.0.0.1:8420', machine.url))).toContain('"ok"')
    await succeeds(machine, 'systemctl stop stockade')
    expect(existsSync(join(machine.dataDir, 'secret.key'))).toBe(false)
  })

  test('high availability: settings that the server takes', () => {
    const [settings = ''] = guideBlocks('high-availability', 'ini')
    const env = Object.fromEntries(
      settings
        .trim()
        .split('\n')
        .map(line => line.split(/=(.*)/s) as [string, string]),
    )
    const secret = join(folder, 'secret.key')
    writeFileSync(secret, 'x'.repeat(64))
    const config = readConfig({ ...env, STOCKADE_SECRET_KEY_FILE: secret })
    expect(config).toMatchObject({ drainSeconds: 15, baseUrl: 'https://stockade.example', tls: null })
  })
})

const hasDump = ['/usr/bin/pg_dump', '/usr/local/bin/pg_dump'].some(existsSync)
if (!hasDump) process.stderr.write('SKIPPED: no pg_dump here, so the dump of docs/guides/upgrade.md is not made\n')
test.runIf(engine === 'postgres' && hasDump)('the guide upgrade: the dump of PostgreSQL', async () => {
  const database = await freshDatabase()
  const machine = await aMachine('dump', { STOCKADE_DATABASE_URL: database?.url ?? '' })
  try {
    const [, dump = ''] = guideBlocks('upgrade', 'sh')
    const { code, out } = await machine.run(dump)
    // Debian's program may be older than the PostgreSQL of the tests, which it refuses.
    if (out.includes('server version mismatch')) {
      process.stderr.write('SKIPPED: pg_dump here is older than the PostgreSQL of the tests\n')
      return
    }
    expect({ code, out }).toMatchObject({ code: 0 })
    expect(readFileSync(join(machine.home, 'stockade.dump')).subarray(0, 5).toString()).toBe('PGDMP')
  } finally {
    await database?.drop()
  }
})
