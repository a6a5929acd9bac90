import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPolicy } from '../src/policy/policy.ts'
import { publicShare } from '../src/policy/share.ts'

let directory = ''
beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'stockade-policy-'))
})
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

const file = () => join(directory, 'policy.json')
const write = (value: unknown, mode = 0o644): void => {
  fs.writeFileSync(file(), typeof value === 'string' ? value : JSON.stringify(value))
  fs.chmodSync(file(), mode)
}
let clock = 0
const policyOf = () => createPolicy({ directory, now: () => clock })

describe('a policy', () => {
  it('that is not there allows what agents did before', () => {
    const policy = policyOf()
    expect(policy.state()).toEqual({ state: 'default', error: null })
    expect(policy.whyNotCommand('service-restart', { force: true })).toBeNull()
    expect(policy.whyNotClose(22, false)).toBeNull()
    expect(policy.whitelistLimits()).toEqual({ maxEntries: 250_000, maxShare: 1 / 64, widestIpv4: 8, widestIpv6: 16 })
    expect(policy.fleetBanLimits()).toMatchObject({ maxEntries: 10_000, maxShare: 1 / 64, widestIpv4: 16 })
    expect(policy.blocklistLimits()).toMatchObject({ maxEntries: 250_000, maxShare: 1 / 8, widestIpv4: 8 })
    expect(policy.agentUpgrades()).toBe(true)
  })

  it('allows fleet bans and lists, some of them, or none', () => {
    write({ version: 1, fleet_bans: false, lists: { max_share: 0.01, wide_without_approval: true } })
    const policy = policyOf()
    expect(policy.fleetBanLimits()).toBeNull()
    expect(policy.blocklistLimits()).toMatchObject({ maxShare: 0.01, maxEntries: 250_000, allowsUnapproved: true })
    write({ version: 1, fleet_bans: { max_entries: 3, widest_ipv4: 24 }, lists: true })
    expect(policy.fleetBanLimits()).toMatchObject({ maxEntries: 3, widestIpv4: 24, widestIpv6: 32 })
    expect(policy.blocklistLimits()).toMatchObject({ maxShare: 1 / 8, allowsUnapproved: false })
  })

  it.each([
    ['a comma too many', '{"version": 1, "refuse": ["ban-ip"],}', /JSON|position|token/i],
    ['no JSON', 'refuse: ban-ip', /JSON|token/i],
    ['nothing', '', /JSON|end/i],
    ['a list', '[]', /object/],
    ['null', 'null', /object/],
    ['a text for "refuse"', { refuse: 'ban-ip' }, /"refuse" must be a list of texts/],
    ['a number for "refuse"', { refuse: [1] }, /"refuse" must be/],
    ['a stranger to the old form', { commands: ['ban-ip'] }, /"version" is missing/],
    ['a newer version', { version: 2 }, /"version" must be 1/],
    ['a version in words', { version: '1' }, /"version" must be 1/],
    ['an unknown key', { version: 1, comands: [] }, /"comands" is no key/],
    ['an unknown key within', { version: 1, whitelist: { maxentries: 1 } }, /"whitelist.maxentries" is no key/],
    ['null for a list', { version: 1, commands: null }, /"commands" must be/],
    ['commands by a star', { version: 1, commands: ['*'] }, /"commands" must be/],
    ['force in words', { version: 1, allow_force: 'no' }, /"allow_force" must be true or false/],
    ['a port beyond', { version: 1, knock_ports: ['65536'] }, /"knock_ports" must be/],
    ['ports the wrong way round', { version: 1, knock_ports: ['90-80'] }, /"knock_ports" must be/],
    ['a port as number', { version: 1, knock_ports: [22] }, /"knock_ports" must be/],
    ['bans below none', { version: 1, bans_per_hour: -1 }, /"bans_per_hour" must be/],
    ['a share beyond all', { version: 1, whitelist: { max_share: 2 } }, /"max_share" must be/],
    ['fleet bans in words', { version: 1, fleet_bans: 'no' }, /"fleet_bans" must be true, false or an object/],
    ['lists as a list', { version: 1, lists: [] }, /"lists" must be true, false or an object/],
    ['a wider fleet ban than any', { version: 1, fleet_bans: { widest_ipv4: 8 } }, /"widest_ipv4" must be .* 16 to 32/],
    ['a wider entry than any', { version: 1, lists: { widest_ipv6: 16 } }, /"widest_ipv6" must be .* 19 to 128/],
    ['more entries than any', { version: 1, lists: { max_entries: 250_001 } }, /"max_entries" must be/],
    ['a key of lists for fleet bans', { version: 1, fleet_bans: { wide_without_approval: true } }, /is no key/],
    ['a relative path', { version: 1, log_paths: ['x.log'] }, /"log_paths" must be/],
    ['a path that climbs', { version: 1, log_paths: ['/srv/../etc/*'] }, /"log_paths" must be/],
    ['much', ' '.repeat(70_000), /longer than 64 KiB/],
  ])('with %s allows nothing and says why', (_, text, says) => {
    write(text)
    const policy = policyOf()
    expect(policy.state()).toEqual({ state: 'unreadable', error: expect.stringMatching(says) as string })
    for (const type of ['ban-ip', 'unban-ip', 'jail-status', 'deploy-template'])
      expect(policy.whyNotCommand(type, {})).toMatch(/policy\.json on this host can not be read, so nothing is done: /)
    expect(policy.whyNotClose(22, false)).toMatch(/can not be read/)
    expect(policy.whyNotClose(22, true)).toBeNull()
    for (const read of [policy.whitelistLimits, policy.fleetBanLimits, policy.blocklistLimits])
      expect(read).toThrow(/can not be read/)
    expect(policy.agentUpgrades()).toBe(false)
  })

  it.each([0o664, 0o646, 0o666])('that others may write (%o) allows nothing', mode => {
    write({ version: 1 }, mode)
    expect(policyOf().state()).toMatchObject({ state: 'unreadable', error: expect.stringMatching(/others/) as string })
  })

  it('that is a folder, a broken link or somebody else’s allows nothing', () => {
    fs.mkdirSync(file())
    expect(policyOf().state().state).toBe('unreadable')
    fs.rmdirSync(file())
    fs.symlinkSync(join(directory, 'nothing'), file())
    expect(policyOf().state().state).toBe('unreadable')
    fs.rmSync(file())
    write({ version: 1 })
    expect(createPolicy({ directory, now: () => 0, owners: [4_000_000] }).state()).toMatchObject({
      error: expect.stringMatching(/belongs to user/) as string,
    })
  })

  it('of the first form refuses what it names', () => {
    write({ refuse: ['service-restart'] })
    const policy = policyOf()
    expect(policy.state()).toEqual({ state: 'file', error: null })
    expect(policy.whyNotCommand('service-restart', {})).toBe('policy.json on this host refuses service-restart')
    expect(policy.whyNotCommand('reload-all', {})).toBeNull()
  })

  it('allows what it names and no more', () => {
    write({
      version: 1,
      commands: ['ban-ip', 'unban-ip', 'reload-all'],
      refuse: ['reload-all'],
      allow_force: false,
      knock_ports: ['22', '1024-65535'],
      bans_per_hour: 2,
      whitelist: { max_entries: 3 },
      agent_upgrades: false,
    })
    const policy = policyOf()
    for (const type of ['reload-all', 'deploy-template', 'jail-disable', 'toString'])
      expect(policy.whyNotCommand(type, {})).toBe(`policy.json on this host refuses ${type}`)
    expect(policy.whyNotCommand('ban-ip', { force: true })).toMatch(/"force"/)
    expect(policy.whyNotCommand('ban-ip', { force: 'yes' })).toMatch(/"force"/)
    expect(policy.whyNotCommand('ban-ip', { force: false })).toBeNull()
    expect([22, 1024, 65_535].map(port => policy.whyNotClose(port, true))).toEqual([null, null, null])
    expect([23, 443, 1023].map(port => policy.whyNotClose(port, true))).not.toContain(null)
    expect(policy.whitelistLimits()).toMatchObject({ maxEntries: 3, maxShare: 1 / 64 })
    expect(policy.agentUpgrades()).toBe(false)
  })

  it('counts bans by the hour', () => {
    write({ version: 1, bans_per_hour: 2 })
    const policy = policyOf()
    clock = 1000
    policy.countBan()
    clock = 2000
    policy.countBan()
    expect(policy.whyNotCommand('ban-ip', {})).toMatch(/allows 2 bans by commands an hour/)
    expect(policy.whyNotCommand('unban-ip', {})).toBeNull()
    clock = 1000 + 3_600_001
    expect(policy.whyNotCommand('ban-ip', {})).toBeNull()
  })

  it('holds as soon as the file changes', () => {
    const policy = policyOf()
    expect(policy.whyNotCommand('ban-ip', {})).toBeNull()
    write({ version: 1, commands: [] })
    const mark = policy.mark()
    expect(policy.whyNotCommand('ban-ip', {})).toMatch(/refuses ban-ip/)
    write('{"version": 1,}')
    expect(policy.mark()).not.toBe(mark)
    expect(policy.state().state).toBe('unreadable')
    fs.rmSync(file())
    expect(policy.state().state).toBe('default')
  })
})

describe('places of logs', () => {
  it('are where links really lead', () => {
    const logs = join(directory, 'app', 'log')
    fs.mkdirSync(logs, { recursive: true })
    fs.writeFileSync(join(logs, 'a.log'), '')
    fs.writeFileSync(join(directory, 'secret'), '')
    fs.symlinkSync(join(directory, 'secret'), join(logs, 'b.log'))
    fs.symlinkSync(join(directory, 'app'), join(directory, 'link'))
    write({ version: 1, log_paths: [join(directory, 'link', 'log', '*.log'), join(directory, 'one.txt')] })
    const policy = policyOf()
    expect(policy.allowsLog(join(logs, 'a.log'))).toBe(true)
    expect(policy.allowsLog(join(directory, 'link', 'log', 'a.log'))).toBe(true)
    expect(policy.allowsLog(join(logs, 'soon.log'))).toBe(true)
    expect(policy.allowsLog(join(directory, 'one.txt'))).toBe(true)
    for (const path of [
      join(logs, 'b.log'),
      join(directory, 'secret'),
      join(logs, 'a.txt'),
      join(logs, 'deeper', 'a.log'),
      `${logs}/../../secret`,
      '/etc/shadow',
      '/var/log/../../etc/shadow',
      '/var/logs/x',
    ])
      expect(policy.allowsLog(path), path).toBe(false)
    expect(policy.allowsLog('/var/log/nothing-there.log')).toBe(true)
    expect(policy.allowsLog('/dev/null')).toBe(true)
  })

  it('are named as they are written in the policy', () => {
    write({ version: 1, log_paths: ['/srv/*/log/?.log', '/opt/app[12].log'] })
    const policy = policyOf()
    for (const path of ['/srv/x/log/a.log', '/srv/*/log/?.log', '/opt/app1.log'])
      expect(policy.namesLog(path), path).toBe(true)
    for (const path of [
      '/srv/x/y/log/a.log',
      '/srv/x/log/ab.log',
      '/opt/app3.log',
      '/opt/app12.log',
      '/srv/x/log/a.log/b',
    ])
      expect(policy.namesLog(path), path).toBe(false)
  })
})

it('the share of the public Internet counts no address twice, and no private one', () => {
  expect(publicShare(['10.0.0.0/8', '192.168.0.0/16', '224.0.0.0/8', 'fc00::/7'])).toBe(0)
  expect(publicShare(['0.0.0.0/1', '128.0.0.0/1'])).toBe(1)
  expect(publicShare(['45.0.0.0/8', '45.1.0.0/16', '45.0.0.0/9'])).toBeCloseTo(publicShare(['45.0.0.0/8']), 12)
  expect(publicShare(['45.0.0.0/8', '46.0.0.0/8'])).toBeCloseTo(2 * publicShare(['45.0.0.0/8']), 12)
  expect(publicShare(['45.0.0.0/8'])).toBeGreaterThan(1 / 256)
  expect(publicShare(['45.0.0.0/8'])).toBeLessThan(1 / 200)
  expect(publicShare(['2000::/4', '2000::/5', '45.0.0.0/8'])).toBeCloseTo(0.5, 4)
})
