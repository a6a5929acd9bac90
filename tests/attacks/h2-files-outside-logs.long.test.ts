import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { until } from '../engine/host.ts'
import { reported } from '../engine/scenarios.ts'
import { onStage } from '../engine/stage.ts'
import { deployed, logFolder, templatesOn, writeLines } from './logs.ts'

/* A template reads a file of a user, and its lines come to the server with the bans. */

const logs = logFolder()
const log = join(logs, 'app.log')
const home = fs.mkdtempSync(join(tmpdir(), 'stockade-home-'))
const secret = join(home, '.bash_history')
fs.writeFileSync(log, '')
fs.writeFileSync(secret, '')
fs.symlinkSync(secret, join(logs, 'link.log'))
fs.symlinkSync(home, join(logs, 'folder'))
fs.linkSync(log, join(logs, 'other.log'))
afterAll(() => fs.rmSync(home, { recursive: true, force: true }))

const filter = '[Definition]\nfailregex = ^.*-h <HOST> .*$\n'

onStage('h2: files outside the logs', [], scene => {
  it.each([
    ['a file of a user', secret],
    ['a folder of users', '/home/alice/.bash_history'],
    ['the data of a program', '/var/lib/app/app.log'],
    ['what programs keep', '/opt/app/app.log'],
    ['what servers keep', '/srv/app/app.log'],
    ['a path that climbs', `/var/log/..${secret}`],
    ['a link to a file', join(logs, 'link.log')],
    ['a link to a folder', join(logs, 'folder', '.bash_history')],
    ['a glob that finds a link', join(logs, 'li*.log')],
    ['a glob that finds a link beside a log', join(logs, '*.log')],
    ['a glob through a link', join(logs, '*', '.bash_history')],
    ['a link after a log', `${log} ${join(logs, 'link.log')}`],
  ])('are not read by %s, as an option or as a setting', async (_, logpath) => {
    for (const attack of [
      { logpath, filter },
      { logpath: log, filter, settings: { logpath } },
    ])
      expect(await deployed(scene(), attack)).toMatchObject({
        success: false,
        output: expect.stringMatching(/outside \/var\/log|not below \/var\/log|not the absolute path/) as string,
      })
    expect(templatesOn(scene().host)).toEqual([])
  })

  it('are not told where a jail of the administrator reads them, while lines of logs are', async () => {
    const { host } = scene()
    const section = (name: string, path: string) =>
      `[${name}]\nenabled = true\nfilter = open\nbackend = polling\nmaxretry = 1\nport = 8080\nlogpath = ${path}\n`
    fs.writeFileSync(join(host.f2bConfig, 'filter.d', 'open.conf'), filter)
    fs.writeFileSync(
      join(host.f2bConfig, 'jail.d', 'open.local'),
      section('history', secret) + section('linked', join(logs, 'link.log')) + section('logged', log),
    )
    await host.client('reload')
    writeLines(secret, 'ssh bob@x -h 198.51.100.77 -p secretpw')
    writeLines(log, 'app -h 198.51.100.78 -p fine')
    await until(() => host.bannedInEngine('linked', '198.51.100.77'), 'the ban')
    expect(await reported(scene(), '198.51.100.78')).toMatchObject({
      jail: 'logged',
      log_lines: expect.stringContaining('-p fine') as string,
    })
    await until(
      () => scene().server.rows.filter(({ ip }) => ip === '198.51.100.77').length === 2,
      'both bans of the address',
    )
    for (const row of scene().server.rows.filter(({ ip }) => ip === '198.51.100.77')) expect(row.log_lines).toBe('')
  })
})
