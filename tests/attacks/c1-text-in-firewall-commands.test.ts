import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { until } from '../engine/host.ts'
import { onStage } from '../engine/stage.ts'
import { deployed, logFolder, templatesOn, writeLines } from './logs.ts'

/* A template hands text of a log line to the firewall's program, by a group that fail2ban takes for the address. */

const log = join(logFolder(), 'web.log')
fs.writeFileSync(log, '')

/** As the program of nftables reads it: the end of the set, a table of one's own, and the beginning of a set again. */
const payload = (table: string, set: string): string =>
  `192.0.2.1 } ; add table ip ${table} ; add chain ip ${table} pre { type nat hook prerouting priority -100 ; } ; ` +
  `add rule ip ${table} pre tcp dport 22 dnat to 203.0.113.66:22 ; add element inet f2b-table ${set} { 192.0.2.3`
const filter = (failregex: string, more = ''): string => `[Definition]\n${more}failregex = ${failregex}\n`

const forms: Readonly<Record<string, { filter: string; jail?: string }>> = {
  'an id': { filter: filter('^ GET /x\\?<F-ID>.+</F-ID>$') },
  'an id beside a host': { filter: filter('^ GET /x\\?<F-ID>.+</F-ID>$\n  ^ other <HOST>$') },
  'a group fid': { filter: filter('^ GET /x\\?(?P<fid>.+)$') },
  'a group ip4': { filter: filter('^ GET /x\\?(?P<ip4>.+)$') },
  'a group ip6': { filter: filter('^ GET /x\\?(?P<ip6>.+)$') },
  'a group ip over an address': { filter: filter('^ GET /x\\?(?P<ip><IP4>.+)$') },
  'a group dns': { filter: filter('^ GET /x\\?(?P<dns>.+)$') },
  'a group dns as it stands in the log': { filter: filter('^ GET /x\\?(?P<dns>.+)$'), jail: 'usedns = raw\n' },
  'names as they stand in the log': { filter: filter('^ GET /x\\?<HOST>'), jail: 'usedns = raw\n' },
  'a group cidr': { filter: filter('^ GET /x\\?<IP4>(?P<cidr>.+)$') },
  'another name of the id': { filter: filter('^ GET /x\\?<F-ALT_ID>.+</F-ALT_ID>(?:<HOST>)?$') },
  'a part of the id': { filter: filter('^ GET /x\\?<F-TUPLE_ID>.+</F-TUPLE_ID>(?:<HOST>)?$') },
  'an alternative group': { filter: filter('^ GET /x\\?(?P<alt_ip4>.+)(?:<HOST>)?$') },
  'an id within a name': { filter: filter('^ GET /x\\?\\(?P<F-ID>.+)$') },
  'a connection': { filter: filter('^ GET /x\\?<F-MLFID>.+</F-MLFID>(?:<HOST>)?$') },
  'an id, spelled by a variable': { filter: filter('^ GET /x\\?<F-%(_t)s>.+</F-%(_t)s>$', '_t = ID\n') },
  'an id, spelled by two': { filter: filter('^ GET /x\\?<%(_a)s%(_b)s>.+</%(_a)s%(_b)s>$', '_a = F-\n_b = ID\n') },
  'an id, filled in for a tag': { filter: filter('^ GET /x\\?<_t>', '_t = <F-ID>.+</F-ID>\n') },
  'an id of a tag within a tag': { filter: filter('^ GET /x\\?<F-<_t>>.+</F-<_t>>$', '_t = ID\n') },
  'a group, spelled by a variable': { filter: filter('^ GET /x\\?(?P<%(_t)s>.+)$', '_t = fid\n') },
  'a group, half of it a variable': { filter: filter('^ GET /x\\?(?%(_t)s.+)$', '_t = P<ip4>\n') },
  'a prefix with an id': {
    filter: filter('^.*$', 'prefregex = ^ GET /x\\?<F-ID>.+</F-ID><F-CONTENT>.*</F-CONTENT>$\n'),
  },
  'a prefix with a spelled id': {
    filter: filter('^.*$', '_t = ID\nprefregex = ^ GET /x\\?<F-%(_t)s>.+</F-%(_t)s><F-CONTENT>.*</F-CONTENT>$\n'),
  },
  'an id from [Init]': { filter: `${filter('^ GET /x\\?<F-%(_t)s>.+</F-%(_t)s>$')}[Init]\n_t = ID\n` },
  'an id beside an include': {
    filter: `[INCLUDES]\nbefore = common.conf\n${filter('^%(__prefix_line)s<F-%(_t)s>.+</F-%(_t)s>$', '_t = ID\n')}`,
  },
  'an id in the jail': { filter: filter('^ other <HOST>$'), jail: 'failregex = ^ GET /x\\?<F-ID>.+</F-ID>$\n' },
  'an id in the jail, spelled by an option': {
    filter: filter('^ other <HOST>$'),
    jail: 'logencoding = ID\nfailregex = ^ GET /x\\?<F-<logencoding>>.+</F-<logencoding>>$\n',
  },
  'a group under a flag': { filter: filter('(?i)^ GET /x\\?(?P<fid>.+)$') },
  'an id in capitals of its file': { filter: '[Definition]\nFAILREGEX : ^ GET /x\\?<F-ID>.+</F-ID>$\n' },
  'an address that is cut open': { filter: filter('^ GET /x\\?(?P<ip4>(?:\\d{1,3}\\.){3}\\d{1,3}.*)$') },
}

onStage('c1: text of log lines in commands of the firewall', [], scene => {
  it('reaches nftables where the filter is on the host without the gate', async () => {
    const { host } = scene()
    fs.writeFileSync(join(host.f2bConfig, 'filter.d', 'open.conf'), filter('^ GET /x\\?<F-ID>.+</F-ID>$'))
    fs.writeFileSync(
      join(host.f2bConfig, 'jail.d', 'open.local'),
      `[open]\nenabled = true\nfilter = open\nbackend = polling\nmaxretry = 1\nport = 8080\nlogpath = ${log}\n`,
    )
    await host.client('reload')
    writeLines(log, 'GET /x?192.0.2.200')
    await until(() => host.bannedInNft('192.0.2.200'), 'the first ban')
    writeLines(log, `GET /x?${payload('proof', 'addr-set-open')}`)
    await until(async () => (await host.inside('nft', 'list', 'ruleset')).includes('table ip proof'), 'the rule')
    for (const file of ['filter.d/open.conf', 'jail.d/open.local']) fs.rmSync(join(host.f2bConfig, file))
    await host.client('stop', 'open')
    await host.inside('nft', 'delete', 'table', 'ip', 'proof')
  })

  it('is refused in each form, and no rule comes of the line', async () => {
    const { host } = scene()
    const outcomes = await Promise.all(
      Object.entries(forms).map(async ([form, { filter, jail }]) => {
        const { success, output } = await deployed(scene(), { logpath: log, filter, ...(jail ? { jail } : {}) })
        return success ? [`${form}: ${output}`] : []
      }),
    )
    const passed = outcomes.flat()
    expect(passed).toEqual([])
    expect(templatesOn(host)).toEqual([])
    const marked = await deployed(scene(), { name: 'mark', logpath: log, filter: filter('^ mark <HOST>$') })
    expect(marked).toMatchObject({ success: true })
    writeLines(log, `GET /x?${payload('pwned', 'addr-set-door')}`, 'mark 192.0.2.201')
    await until(() => host.bannedInNft('192.0.2.201'), 'the ban that comes after the line')
    expect(await host.inside('nft', 'list', 'ruleset')).not.toMatch(/pwned|203\.0\.113\.66|dnat/)
  })

  it('is refused where an action of the host uses the text of another group', async () => {
    const { host } = scene()
    fs.writeFileSync(
      join(host.f2bConfig, 'action.d', 'note.conf'),
      '[Definition]\nactionban = printf %%s <F-USER> >/dev/null\n',
    )
    const local = join(host.f2bConfig, 'jail.d', 'all.local')
    fs.writeFileSync(local, '[DEFAULT]\naction = note\n')
    const named = { logpath: log, filter: filter('^ login <F-USER>.+</F-USER> from <HOST>$') }
    expect(await deployed(scene(), named)).toMatchObject({
      success: false,
      output: expect.stringMatching(/group \(\?P<user>\.\.\.\) is used by an action of this host/) as string,
    })
    fs.rmSync(local)
    expect(await deployed(scene(), named)).toMatchObject({ success: true })
  })
})
