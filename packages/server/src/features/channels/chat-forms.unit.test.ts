import { expect, test } from 'vitest'
import type { Message } from '../../db/tables/message.ts'
import { chatKindOf, discordForm, jsonForm, slackForm } from './chat-forms.ts'
import type { Site } from './message.ts'
import { mailHtmlOf, mailTextOf } from './mail.ts'
import { beginOf, wallOf } from '../../core/wall.ts'

const site = { name: 'Fence', url: 'https://fence.example', timezone: 'UTC' }
const message = (more: Partial<Message> = {}): Message => ({
  category: 'bans',
  level: 'warning',
  title: '192.0.2.7 banned on web-01',
  text: 'Jail sshd, for 10 minutes.',
  facts: [{ name: 'Address', value: '192.0.2.7' }],
  tables: [],
  path: '/bans/7',
  label: 'Show the ban',
  at: Date.UTC(2026, 10, 20, 9, 30),
  ...more,
})
const forms = { discord: discordForm, slack: slackForm, json: jsonForm }
const chatBodyOf = (kind: keyof typeof forms, content: Message, { url, ...of }: Site) =>
  forms[kind](content, { url, ...of }, url + content.path)
/** More of everything than any platform takes. */
const huge = (text: string) =>
  message({
    title: text.repeat(3000),
    text: text.repeat(9000),
    facts: Array.from({ length: 60 }, (_, n) => ({ name: `${text}${n}`, value: text.repeat(3000) })),
    tables: Array.from({ length: 60 }, () => ({
      title: text.repeat(400),
      columns: ['A', 'B'],
      rows: Array.from({ length: 200 }, (_, n) => [`${text}${n}`, text.repeat(50)]),
      total: 5000,
    })),
  })

test.each([
  ['https://discord.com/api/webhooks/1/x', 'discord'],
  ['https://ptb.discord.com/api/webhooks/1/x', 'discord'],
  ['https://discordapp.com/api/webhooks/1/x', 'discord'],
  ['https://discord.com/api/webhooks/1/x/slack', 'slack'],
  ['https://discord.com.evil.example/api/webhooks/1/x', 'json'],
  ['https://hooks.slack.com/services/T0/B0/x', 'slack'],
  ['https://hooks.slack.com/workflows/T0/x', 'slack'],
  ['http://chat.corp.example/services/x', 'slack'],
  ['https://chat.example/hooks/abcdefghijklmnopqrstuvwxyz', 'slack'],
  ['https://chat.example/hooks/abcdefghijklmnopq/ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef', 'slack'],
  ['https://bot.example/hooks/deploy', 'json'],
  ['https://bot.example/', 'json'],
])('%s is %s', (address, kind) => expect(chatKindOf(address)).toBe(kind))

interface Embed {
  title: string
  description: string
  fields: { name: string; value: string }[]
  footer: { text: string }
}
test.each(['x', '`*_~|>[](<@:&', '😀'])('Discord’s limits hold with %j all over', text => {
  const { embeds, allowed_mentions } = chatBodyOf('discord', huge(text), site) as {
    embeds: Embed[]
    allowed_mentions: object
  }
  expect(allowed_mentions).toEqual({ parse: [] })
  expect(embeds.length).toBeLessThanOrEqual(10)
  const [embed] = embeds
  if (!embed) throw new Error('no embed')
  expect(embed.title.length).toBeLessThanOrEqual(256)
  expect(embed.description.length).toBeLessThanOrEqual(4096)
  expect(embed.fields.length).toBeLessThanOrEqual(25)
  for (const { name, value } of embed.fields) {
    expect(name.length).toBeLessThanOrEqual(256)
    expect(value.length).toBeLessThanOrEqual(1024)
    expect(value.length).toBeGreaterThan(0)
  }
  const all = [embed.title, embed.description, embed.footer.text, ...embed.fields.flatMap(f => [f.name, f.value])]
  expect(all.join('').length).toBeLessThanOrEqual(6000)
  expect(embed.title).toContain('[cut]')
})
interface Block {
  type: string
  text?: { text: string }
  fields?: { text: string }[]
  elements?: { text: string }[]
}
test.each(['x', '`*_~|>[](<@:&', '😀'])('Slack’s limits hold with %j all over', text => {
  const { blocks, text: whole } = chatBodyOf('slack', huge(text), site) as { blocks: Block[]; text: string }
  expect(blocks.length).toBeLessThanOrEqual(50)
  expect(whole.length).toBeLessThanOrEqual(40_000)
  for (const { type, text: inside, fields = [] } of blocks) {
    expect(inside?.text.length ?? 0).toBeLessThanOrEqual(type === 'header' ? 150 : 3000)
    expect(fields.length).toBeLessThanOrEqual(10)
    for (const field of fields) expect(field.text.length).toBeLessThanOrEqual(2000)
  }
})

const hostile = '@everyone <!channel> <@U1> [x](https://evil.example) `code` *bold* & https://evil.example'
const nasty = message({
  title: hostile,
  text: hostile,
  facts: [{ name: hostile, value: hostile }],
  tables: [{ title: '', columns: ['A'], rows: [['``` @everyone <!here>']], total: 3 }],
})
test('hostile text pings nobody and links nowhere on Discord', () => {
  const body = JSON.stringify(chatBodyOf('discord', nasty, site))
  expect(body).not.toMatch(/@everyone|<@U1>|[^\\]\]\(|https:\/\/evil/)
  expect(body.match(/```/g)).toHaveLength(2)
  expect(body).toContain('… and 2 more')
})
test('hostile text pings nobody and links nowhere on Slack and its kin', () => {
  const { text, blocks } = chatBodyOf('slack', nasty, site) as { text: string; blocks: Block[] }
  expect(JSON.stringify(blocks)).not.toMatch(/<!|<@/)
  expect(text).not.toMatch(/<!|<@|@channel|\]\(|https:\/\/evil|[^`]`[^`]/)
  expect(text.match(/```/g)).toHaveLength(2)
  expect(text).toContain('<https://fence.example/bans/7|Show the ban>')
})
test('generic JSON has the fields of the guide', () => {
  expect(chatBodyOf('json', message(), site)).toEqual({
    version: 1,
    category: 'bans',
    level: 'warning',
    at: '2026-11-20T09:30:00.000Z',
    site: { name: 'Fence', url: 'https://fence.example' },
    title: '192.0.2.7 banned on web-01',
    text: 'Jail sshd, for 10 minutes.',
    facts: [{ name: 'Address', value: '192.0.2.7' }],
    tables: [],
    link: 'https://fence.example/bans/7',
  })
})
test('a mail’s HTML holds no markup of strangers and nothing remote; its text is complete', () => {
  const evil = message({ title: '<img src=x onerror=1>', facts: [{ name: '"><script>', value: "'&" }] })
  const html = mailHtmlOf(evil, site)
  expect(html).not.toMatch(/<img|<script|<[a-z][^>]* src=|url\(|@import|<link/)
  expect(html.match(/<a /g)).toHaveLength(1)
  expect(html).toContain('prefers-color-scheme:dark')
  const text = mailTextOf(
    message({ tables: [{ title: 'Jails', columns: ['Jail', 'Bans'], rows: [['sshd', '3']], total: 2 }] }),
    site,
  )
  for (const part of ['192.0.2.7 banned on web-01', 'Jail sshd', 'Address: 192.0.2.7', 'sshd  3', '… and 1 more'])
    expect(text).toContain(part)
  expect(text).toContain('https://fence.example/bans/7')
})

test.each([
  ['Europe/Vienna', '2027-03-28', '2027-03-27T23:00:00.000Z', 23],
  ['Europe/Vienna', '2027-10-31', '2027-10-30T22:00:00.000Z', 25],
  ['Asia/Kolkata', '2027-01-10', '2027-01-09T18:30:00.000Z', 24],
  ['America/St_Johns', '2027-07-01', '2027-07-01T02:30:00.000Z', 24],
  ['Pacific/Kiritimati', '2027-01-01', '2026-12-31T10:00:00.000Z', 24],
  ['Pacific/Pago_Pago', '2027-01-01', '2027-01-01T11:00:00.000Z', 24],
  // The clock jumps over midnight.
  ['Africa/Cairo', '2027-04-30', '2027-04-29T22:00:00.000Z', 23],
])('in %s %s begins at %s and has its hours', (zone, date, begin, hours) => {
  const at = beginOf(date, zone)
  expect(new Date(at).toISOString()).toBe(begin)
  expect(wallOf(at, zone).date).toBe(date)
  expect(wallOf(at - 1, zone).date < date).toBe(true)
  const next = new Date(Date.parse(`${date}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
  expect((beginOf(next, zone) - at) / 3_600_000).toBe(hours)
})
