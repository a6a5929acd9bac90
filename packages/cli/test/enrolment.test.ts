import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiError } from '@stockade/client'
import { startServer } from '../../server/src/testing/index.ts'
import { stockade } from './run.ts'
import type { Options, Signed, TestServer } from '../../server/src/testing/index.ts'
import { onTerminal } from './terminal.ts'

const launcher = fileURLToPath(new URL('../../../scripts/stockade.cjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'stockade-cli-'))

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}
interface Place {
  readonly server: TestServer
  readonly admin: Signed
  run(args: readonly string[], input?: string, key?: string): Promise<Ran>
  env(key?: string): Record<string, string>
}
const keyOf = async (admin: Signed, permissions: 'read' | 'write' | 'admin') =>
  (await admin.client.call('POST /keys', { body: { name: permissions, permissions } })).key
const aPlace = async (options: Options = {}): Promise<Place> => {
  const server = await startServer(options)
  const admin = await server.setUp()
  const own = await keyOf(admin, 'admin')
  const env = (key = own) => ({ PATH: process.env.PATH ?? '', STOCKADE_URL: server.url, STOCKADE_API_KEY: key })
  return {
    server,
    admin,
    env,
    run: (args, input = '', key) => stockade(env(key), ['servers', ...args], input),
  }
}

let place: Place
let run: Place['run']
beforeAll(async () => {
  place = await aPlace()
  run = place.run
})
afterAll(async () => {
  await place?.server.close()
  rmSync(folder, { recursive: true, force: true })
})

const lines = (text: string) => text.trimEnd().split('\n')
const tokenIn = (command: string | undefined) => / --token (s[ie]t_\w+)$/.exec(command ?? '')?.[1] ?? ''
/** What the installer does with the token: the host's key; the status of the refusal where it is worth nothing. */
const enrol = (command: string | undefined, hostname: string, { server } = place) =>
  server
    .client()
    .call('POST /agent/enroll', { body: { token: tokenIn(command), hostname, agent_id: randomUUID() } })
    .catch((error: unknown) => (error instanceof ApiError ? error.status : Promise.reject(error)))
const beat = async (command: string | undefined, hostname: string, at = place) => {
  const done = await enrol(command, hostname, at)
  if (typeof done === 'number') throw new Error(`refused with ${done}`)
  await at.server.client(done.api_key).call('POST /servers/heartbeat', { body: { hostname } })
  return done.server_id
}
interface Added {
  readonly hostname: string
  readonly id: string
  readonly install_command: string
  readonly renewed: boolean
}
const added = (ran: Ran) => JSON.parse(ran.out) as Added[]
const states = async (at = place) =>
  (await at.admin.client.call('GET /servers/summary')).servers
    .map(({ hostname, status }) => `${hostname} ${status}`)
    .sort()
const clear = async () => {
  for (const { id } of (await place.admin.client.call('GET /servers/summary')).servers)
    await place.admin.client.call('DELETE /servers/{serverId}', { params: { serverId: id } })
}
/** A command on a terminal, where somebody answers the question. */
const typed = (text: string, ...args: string[]) =>
  onTerminal([process.execPath, launcher, 'servers', ...args], place.env(), text)

test('three at once, each with a command that enrols a host', async () => {
  const done = await run(['add', 'web-01', 'web-02.example', 'db-01', '--description', 'Rack 4'])
  expect(done).toMatchObject({ code: 0, err: '' })
  const [head, ...rows] = lines(done.out)
  expect(head).toBe('NAME            COMMAND')
  const commands = rows.slice(0, 3).map(row => row.split(/ {2,}/))
  expect(commands.map(([name]) => name)).toEqual(['web-01', 'web-02.example', 'db-01'])
  for (const row of rows.slice(0, 3)) {
    expect(row.indexOf('curl')).toBe(head?.indexOf('COMMAND'))
    expect(row).toMatch(/curl -fsSL http:\S+\/install\.sh \| sudo sh -s -- --token sit_\w{32}$/)
  }
  expect(rows.slice(3)).toEqual([
    '',
    '3 of 3 added.',
    'Each command works once, within 24 hours, and is shown only now.',
  ])
  const id = await beat(commands[1]?.[1], 'web-02.example')
  expect(await states()).toEqual(['db-01 pending', 'web-01 pending', 'web-02.example online'])
  expect(await place.admin.client.call('GET /servers/{serverId}', { params: { serverId: id } })).toMatchObject({
    hostname: 'web-02.example',
    description: 'Rack 4',
  })
  expect(await enrol(commands[1]?.[1], 'web-02.example')).toBe(401)
  // The list stands where it stood.
  expect((await run(['--status', 'online'])).out).toContain('1 of 1 servers')
})

test('a second run tells what is there; --renew makes new commands for hosts that have not come', async () => {
  await clear()
  const [web, db] = added(await run(['add', 'web-01', 'db-01', '--json']))
  await beat(web?.install_command, 'web-01')
  const again = await run(['add', 'WEB-01', 'db-01', 'new-01'])
  expect(again.code).toBe(1)
  expect(lines(again.err)).toEqual([
    'stockade: WEB-01: It is there already.',
    'stockade: db-01: It is there already, and its agent has not reported yet. --renew makes a new command for it.',
    'stockade: 2 of 3 were not added.',
  ])
  expect(again.out).toMatch(/^NAME +COMMAND\nnew-01 {2}curl .*\n\n1 of 3 added\.\nThe command works once/)
  expect(await states()).toEqual(['db-01 pending', 'new-01 pending', 'web-01 online'])

  const renewed = await run(['add', 'web-01', 'db-01', 'new-02', '--renew', '--json'])
  expect(renewed).toMatchObject({ code: 0, err: '' })
  expect(added(renewed)).toEqual([
    { hostname: 'db-01', id: db?.id, install_command: expect.any(String) as string, renewed: true },
    expect.objectContaining({ hostname: 'new-02', renewed: false }),
  ])
  const [command] = added(renewed)
  expect(await enrol(db?.install_command, 'db-01')).toBe(401)
  expect(await enrol(command?.install_command, 'db-01')).toMatchObject({ server_id: db?.id })
  // Its host has its key, though no agent has reported yet: nothing is made that would take it away.
  const last = await run(['add', 'web-01', 'db-01', '--renew'])
  expect(last).toEqual({ code: 0, err: '', out: '0 of 2 added, 2 enrolled already.\n' })
  expect(await run(['add', 'web-01', '--renew', '--json'])).toEqual({ code: 0, err: '', out: '[]\n' })
})

test('a name that two servers wait with is not guessed at', async () => {
  await clear()
  const make = async () => (await place.admin.client.call('POST /servers', { body: { hostname: 'twin' } })).id
  const ids = [await make(), await make()]
  const done = await run(['add', 'twin', '--renew', '--json'])
  expect(done).toMatchObject({ code: 1, out: '[]\n' })
  expect(done.err).toMatch(/^stockade: twin: 2 servers are called so\. Take one by its id: /)
  for (const id of ids) expect(done.err).toContain(id)
})

test('names of a file, with comments, and of standard input', async () => {
  await clear()
  const file = join(folder, 'hosts.txt')
  writeFileSync(file, '\ufeff# the web\r\nweb-01.example\r\n\r\n  web-02.example  # behind the balancer\r\n')
  const done = await run(['add', 'db-01', '--from', file, '--plain'])
  expect(done).toMatchObject({ code: 0, err: '' })
  expect(lines(done.out).map(line => line.split('\t'))).toEqual(
    ['db-01', 'web-01.example', 'web-02.example'].map(name => [name, expect.stringMatching(/^curl .* sit_\w+$/)]),
  )
  const piped = await run(['add', '--from', '-', '--json'], 'mail-01\n# none\n')
  expect(added(piped)).toEqual([expect.objectContaining({ hostname: 'mail-01' })])
  // The lasting key that hosts without our agent would use is not given out with it.
  expect(piped.out).not.toContain('svc_')
  expect(await states()).toHaveLength(4)
})

test('what is no list of names is refused by line, before anything is made', async () => {
  await clear()
  const bad = `ok-01\n\nweb 01\n-oProxyCommand=x\nOK-01\nesc\u001b[2J\n${'x'.repeat(254)}\n`
  const done = await run(['add', '--from', '-'], bad)
  expect(done).toMatchObject({ code: 2, out: '' })
  expect(done.err).toBe(
    'stockade: Standard input, line 3: "web 01" has a space in it. ' +
      'Standard input, line 4: "-oProxyCommand=x" begins with a hyphen. ' +
      'Standard input, line 5: "OK-01" stands in Standard input, line 1 already. ' +
      'Standard input, line 6: "esc\ufffd[2J" holds a character that can\'t be seen. ' +
      'Standard input, line 7: the name is longer than 253 characters. Nothing was done.\n',
  )
  const many = await run(['add', '--from', '-'], 'a b\n'.repeat(8))
  expect(many.err).toMatch(/line 5: "a b" has a space in it\. And 3 more\. Nothing was done\.\n$/)
  const long = Array.from({ length: 10_001 }, (_, index) => `host-${index}`).join('\n')
  for (const [args, input, message] of [
    [['add'], '', 'Say which: NAME..., or --from FILE.'],
    [['add', '--from', '-'], '# nobody\n', 'There is no name in it'],
    [['add', '--from', '-'], long, 'These are 10001 names; 10000 at once are the most.'],
    [['add', '--from', join(folder, 'absent')], '', "absent can't be read: ENOENT."],
    [['add', ''], '', 'Name 1: the name is empty.'],
    [['add', 'x', '--json', '--plain'], '', 'Give --json or --plain, not both.'],
    [['add', 'x', '--description', 'x'.repeat(1001)], '', 'The description is longer than 1000 characters.'],
    [['bogus'], '', 'bogus'],
  ] as const) {
    const ran = await run(args, input)
    expect(ran, message).toMatchObject({ code: 2, out: '' })
    expect(ran.err).toContain(message)
  }
  expect(await states()).toEqual([])
})

test('the licence ends it: what was made is shown, and how many are left is told', async () => {
  const small = await aPlace({ licence: null })
  try {
    const done = await small.run(['add', 'a', 'b', 'c', 'd', 'e', '--json'])
    expect(done.code).toBe(1)
    expect(added(done).map(({ hostname }) => hostname)).toEqual(['a', 'b', 'c'])
    expect(done.err).toMatch(
      /^stockade: The licence covers 3 servers, and 3 are registered\. .* 3 of 5 done, 2 left\.\n$/,
    )
    expect(await states(small)).toEqual(['a pending', 'b pending', 'c pending'])
    const again = await small.run(['add', 'd'])
    expect(again).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^stockade: The licence covers 3 servers.*settings\/license\.\n$/),
    })
  } finally {
    await small.server.close()
  }
})

test('a budget of requests that is used up is waited for, aloud', async () => {
  await clear()
  // A real budget would take a minute: what stands in front refuses one request as the server does, and passes the rest on.
  let asked = 0
  const front = createServer((request, reply) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = 'GET', url = '', headers } = request
      if (method === 'POST' && ++asked === 3)
        return void reply
          .writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' })
          .end(JSON.stringify({ error: 'Too Many Requests', message: 'Try again in 1 second.' }))
      fetch(place.server.url + url, {
        method,
        headers: { 'content-type': 'application/json', authorization: headers.authorization ?? '' },
        ...(method === 'POST' ? { body: Buffer.concat(chunks) } : {}),
      }).then(
        async answer => reply.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text()),
        () => reply.destroy(),
      )
    })
  })
  await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
  const done = await run(['add', 'a', 'b', 'c', 'd', '--json', '--url', url])
  await new Promise(resolve => front.close(resolve))
  expect(done).toMatchObject({ code: 0, err: 'stockade: 2 of 4 done. The server asks for a pause of 1 s.\n' })
  expect(added(done).map(({ hostname }) => hostname)).toEqual(['a', 'b', 'c', 'd'])
  expect(asked).toBe(5)
  expect(await states()).toHaveLength(4)
})

test('a key that may not is told what is needed', async () => {
  await clear()
  await run(['add', 'web-01'])
  for (const permission of ['read', 'write'] as const) {
    const key = await keyOf(place.admin, permission)
    const needs = 'stockade: This needs admin permission (a user of role Admin).'
    expect(await run(['add', 'x', '--json'], '', key)).toEqual({ code: 1, out: '', err: `${needs}\n` })
    expect(await run(['add', 'x', 'y', '--json'], '', key)).toEqual({
      code: 1,
      out: '',
      err: `${needs} 0 of 2 done, 2 left.\n`,
    })
    expect(await run(['token', 'web-01'], '', key)).toEqual({ code: 1, out: '', err: `${needs}\n` })
    expect(await run(['remove', 'web-01', '--yes'], '', key)).toEqual({ code: 1, out: '', err: `${needs}\n` })
  }
  expect(await states()).toEqual(['web-01 pending'])
})

test('a new command for a host; the agent that runs goes on until its new key is used', async () => {
  await clear()
  const [one] = added(await run(['add', 'web-01', '--json']))
  const waiting = await run(['token', 'web-01'])
  expect(waiting).toMatchObject({ code: 0, err: '' })
  const [first, , ...notes] = lines(waiting.out)
  expect(notes).toEqual([
    'Run it on web-01. It works once, within 24 hours, and is shown only now. The one before is void.',
  ])
  expect(await enrol(one?.install_command, 'web-01')).toBe(401)
  await beat(first, 'web-01')
  const next = await run(['token', 'WEB-01'])
  expect(lines(next.out).at(-1)).toBe(
    'The agent that runs now goes on until the new key is first used, at most 24 hours after it was fetched.',
  )
  expect(await enrol(lines(next.out)[0], 'web-01')).toMatchObject({ server_id: one?.id })
  const json = await run(['token', one?.id ?? '', '--json'])
  expect(Object.keys(JSON.parse(json.out) as object)).toEqual(['install_command'])
  expect(await run(['token', 'web-99'])).toMatchObject({
    code: 1,
    out: '',
    err: 'stockade: There is no server "web-99". See: stockade servers\n',
  })
})

test('servers are removed only where somebody wants it', async () => {
  await clear()
  await run(['add', 'web-01', 'web-02', 'db-01'])
  const means =
    'web-01, web-02: Their agents can not report any more and commands that wait are cancelled. ' +
    'Their bans stay in the history, and what fail2ban has banned on the hosts stays banned.'
  expect(await run(['remove', 'web-01', 'web-02'])).toEqual({
    code: 2,
    out: '',
    err: `stockade: ${means} Say --yes if it shall be.\n`,
  })
  for (const answer of ['n\r', 'web-01\r', '\r', '\u0004']) {
    const no = await typed(answer, 'remove', 'web-01', 'web-02')
    expect(no.code).toBe(1)
    expect(no.out).toContain(`${means}\r\nDelete these 2 servers? [y/N] `)
    expect(no.out).toMatch(/stockade: Nothing was deleted\.\r\n$/)
  }
  // One that is unknown: none is touched.
  expect(await run(['remove', 'db-01', 'web-99', '--yes'])).toMatchObject({ code: 1, out: '' })
  expect(await states()).toHaveLength(3)

  const yes = await typed('y\r', 'remove', 'db-01')
  expect(yes).toMatchObject({
    code: 0,
    out: expect.stringMatching(/Delete the server\? .*\r\ndb-01 is removed\.\r\n$/s),
  })
  expect(await states()).toEqual(['web-01 pending', 'web-02 pending'])
  const sure = await run(['remove', 'web-01', 'WEB-02', 'web-01', '--yes', '--json'])
  expect(sure).toMatchObject({ code: 0, err: '' })
  expect((JSON.parse(sure.out) as Added[]).map(({ hostname }) => hostname)).toEqual(['web-01', 'web-02'])
  expect(await states()).toEqual([])
})

/** The n-th example of a kind in the guide, as it stands there. */
const exampleOf = (kind: string, nth = 0) => {
  const guide = readFileSync(new URL('../../../docs/guides/many-hosts.md', import.meta.url), 'utf8')
  return [...guide.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, is]) => is === kind)[nth]?.[2] ?? ''
}
/**
 * Runs an example in a folder of its own. In place of other machines: an `ssh` that does here what it was told, and a `sudo` that knows
 * each host's own key and does of the installer only what the server sees.
 */
const example = async (text: string, at: string): Promise<Ran> => {
  const bin = join(at, 'bin')
  mkdirSync(bin, { recursive: true })
  const put = (name: string, body: string) => writeFileSync(join(bin, name), `#!/bin/sh\n${body}`, { mode: 0o755 })
  put('stockade', `exec '${process.execPath}' '${launcher}' "$@"\n`)
  put(
    'ssh',
    `[ "$1" = -n ] && { shift; exec </dev/null; }
export HOST="$1"
shift
[ "$HOST" = away.example ] && exit 255
exec sh -c "$*"
`,
  )
  put(
    'sudo',
    `key="$HOSTS/$HOST.json"
case "$*" in
  'test -e /etc/stockade-agent/agent.json') exec test -e "$key" ;;
  'sh -s -- --token sit_'*) ;;
  *) echo "not foreseen: $*" >&2; exit 1 ;;
esac
grep -q stockade_install || exit 1
curl -fsS -o "$key" -H 'content-type: application/json' "$STOCKADE_URL/api/v1/agent/enroll" \\
  -d "{\\"token\\":\\"$5\\",\\"hostname\\":\\"$HOST\\",\\"agent_id\\":\\"${randomUUID()}\\"}"
`,
  )
  const env = { ...place.env(), PATH: `${bin}:${process.env.PATH ?? ''}`, HOSTS: at }
  return new Promise(resolve =>
    execFile('sh', ['-c', text], { cwd: at, env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  )
}

test("the guide's loop installs where no agent is, and can be run again", async () => {
  await clear()
  const at = mkdtempSync(join(folder, 'loop-'))
  const hosts = ['web-01.example', 'away.example', 'web-02.example']
  writeFileSync(join(at, 'hosts.txt'), `${hosts.join('\n')}\n`)
  const first = await example(exampleOf('sh'), at)
  expect(first).toEqual({ code: 0, out: '', err: "away.example can't be asked\n" })
  const keys = () =>
    Object.fromEntries(
      hosts.map(host => [host, existsSync(join(at, `${host}.json`)) && readFileSync(join(at, `${host}.json`), 'utf8')]),
    )
  const before = keys()
  expect(before).toEqual({
    'web-01.example': expect.stringContaining('api_key'),
    'away.example': false,
    'web-02.example': expect.stringContaining('api_key'),
  })
  expect(await states()).toEqual(['web-01.example pending', 'web-02.example pending'])
  // One more, and one whose command was made and never run.
  await run(['add', 'db-01.example'])
  writeFileSync(join(at, 'hosts.txt'), `${[...hosts, 'db-01.example'].join('\n')}\n`)
  expect(await example(exampleOf('sh'), at)).toEqual(first)
  expect(keys()).toEqual(before)
  expect(existsSync(join(at, 'db-01.example.json'))).toBe(true)
  expect(await example(exampleOf('sh'), at)).toEqual(first)
  expect(await states()).toHaveLength(3)
})

test("the guide's user data is a script with the command of one host", async () => {
  await clear()
  const at = mkdtempSync(join(folder, 'image-'))
  expect(await example(exampleOf('sh', 1), at)).toMatchObject({ code: 0, err: '' })
  const [shell, command, ...more] = lines(readFileSync(join(at, 'user-data'), 'utf8'))
  expect([shell, more]).toEqual(['#!/bin/sh', []])
  expect(await enrol(command, 'web-07.example')).toMatchObject({ server_id: expect.any(String) as string })
  expect(await enrol(command, 'copy-of-it')).toBe(401)
})

test('one token for many hosts: made, used, listed, shown and revoked', async () => {
  const made = await run(['tokens', 'add', 'rack 7', '--servers', '2', '--for', '2h', '--tags', 'rack,eu', '--plain'])
  expect(made).toMatchObject({ code: 0, err: '' })
  expect(made.out).toMatch(/^curl -fsSL http:\S+\/install\.sh \| sudo sh -s -- --token set_\w{40}\n$/)
  const ids = [await beat(made.out.trim(), 'rack-7-a'), await beat(made.out.trim(), 'rack-7-b')]
  expect(await enrol(made.out.trim(), 'rack-7-c')).toBe(409)
  const list = await run(['tokens'])
  expect(lines(list.out)[1]).toMatch(/rack 7 {2,}used up {2,}2 of 2 .* eu, rack {2,}anywhere/)
  expect(list.out).not.toContain('set_')
  const shown = await run(['tokens', 'show', 'rack 7'])
  expect(shown.out).toContain('rack 7: used up, 2 of 2 used.')
  for (const id of ids) expect(shown.out).toContain(id)
  expect(await run(['tokens', 'revoke', 'rack 7'])).toMatchObject({
    code: 0,
    out: 'rack 7 enrols nothing any more. 2 servers that it enrolled stay.\n',
  })
  expect(await enrol(made.out.trim(), 'rack-7-c')).toBe(403)
  expect(await run(['tokens', 'show', 'nothing'])).toMatchObject({ code: 1 })
  expect(await run(['tokens', 'add', 'without a number'])).toMatchObject({ code: 2 })
})
