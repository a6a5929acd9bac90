import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { onStage } from '../engine/stage.ts'
import { deployed, logFolder, templatesOn, writeLines } from './logs.ts'

/* A line made for an expression keeps fail2ban, and with it every jail, busy for minutes. */

const log = join(logFolder(), 'app.log')
fs.writeFileSync(log, '')

const exponential = [
  '^(?:q|q)*! <HOST>$',
  '^(?:q|qq)+! <HOST>$',
  '^(?:q{1,3})*! <HOST>$',
  '^(?:qz|q|z)*! <HOST>$',
  '^(?:q(?:z|z)?)*! <HOST>$',
  '^(?:[a-q]x?|q)*! <HOST>$',
  '^(\\w+\\s?)*! <HOST>$',
  '^((?:é|.)*)! <HOST>$',
]
const polynomial = ['^.*.*.*! <HOST>$', '^\\w*\\w*\\d*! <HOST>$', '^.*q.*q.*q.*q.*! <HOST>$']

onStage('m8: expressions without end', [], scene => {
  it('are refused, also in prefixes, dates and what is ignored, and fail2ban goes on', async () => {
    const { host } = scene()
    const option = (name: string) => (regex: string) =>
      `[Definition]\nfailregex = ^ door: knock from <HOST>$\n${name} = ${regex.replace(' <HOST>', '')}\n`
    const filters = [
      ...[...exponential, ...polynomial].map(regex => `[Definition]\nfailregex = ${regex}\n`),
      ...['ignoreregex', 'datepattern'].map(name => option(name)(exponential[0] ?? '')),
      '[Definition]\nprefregex = ^(?:q|q)*!<F-CONTENT>.+</F-CONTENT>$\nfailregex = ^ <HOST>$\n',
      '[INCLUDES]\nbefore = apache-common.conf\n[Definition]\nfailregex = ^(?:q|q)*! <HOST>$\n',
      '[INCLUDES]\nbefore = apache-common.conf\n[Definition]\n_a = q+\nfailregex = ^(?:%(_a)s)+! <HOST>$\n',
      '[Definition]\n_a = q\nfailregex = ^(?:%(_a)s|%(_a)s)*! <HOST>$\n',
    ]
    const templates = filters.map(filter => ({ filter, jail: '' }))
    templates.push({ filter: '[Definition]\nfailregex = ^ <HOST>$\n', jail: 'failregex = ^(?:q+)+! <HOST>$\n' })
    // One after the other: the agent tries each for seconds, and an order has its own limit.
    for (const template of templates) {
      const { success, output } = await deployed(scene(), { logpath: log, ...template })
      expect({ template, success }).toEqual({ template, success: false })
      expect(output).toMatch(/take the same text in several ways|more than a second/)
    }
    expect(templatesOn(host)).toEqual([])
    writeLines(log, `${'q'.repeat(60)} x`)
    // An expression that does not end holds its interpreter, and nothing is answered.
    expect(await host.client('ping')).toContain('pong')
  })

  it('are told from those that only look so', async () => {
    const good = [
      '^ (?:ab|ac)+! <HOST>$',
      '^ (?:,?\\s*"\\w+":(?:"[^"]+"|\\w+))*,?\\s*"remoteAddr":"<HOST>"',
      '^ "(?:[^"\\\\]|\\\\.)*" <HOST>$',
      '^\\s*(?:\\S+ )?app(?:\\[\\d+\\])?: .* failed from <ADDR>(?: port \\d+)?$',
      '^ <HOST> \\S+ \\S+ "(?:GET|POST) [^" ]*/login(?:\\?[^" ]*)? HTTP/[\\d.]+" 40[13]\\b',
    ]
    const filter = `[Definition]\nfailregex = ${good.join('\n    ')}\n`
    const { success, output } = await deployed(scene(), { logpath: log, filter })
    expect({ success, output }).toEqual({
      success: true,
      output: expect.stringContaining('deployed and runs') as string,
    })
  })
})
