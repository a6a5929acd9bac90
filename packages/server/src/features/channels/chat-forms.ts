import { iso } from '../../core/clock.ts'
import type { Level, Message } from '../../db/tables/message.ts'
import { fit, tableText } from './message.ts'
import type { Site } from './message.ts'

/* What chats take beside a text: embeds of Discord, blocks of Slack and its kin, and the general JSON. Texts of strangers stay texts. */

export type ChatKind = 'discord' | 'slack' | 'json'

const slackPaths = [
  /\/services\//,
  // Discord's own door for Slack's format.
  /\/slack\/?$/,
  // Mattermost: one token; Rocket.Chat: an id and a token.
  /\/hooks\/[a-z0-9]{26}\/?$/,
  /\/hooks\/[A-Za-z0-9]{17,24}\/[A-Za-z0-9]{20,}\/?$/,
]
/** Which form a webhook wants, as its URL tells. */
export const chatKindOf = (address: string): ChatKind => {
  const { hostname, pathname } = new URL(address)
  if (slackPaths.some(pattern => pattern.test(pathname))) return 'slack'
  if (/^hooks\.slack(-gov)?\.com$/.test(hostname)) return 'slack'
  return /(^|\.)discord(app)?\.com$/.test(hostname) ? 'discord' : 'json'
}

const gap = '\u200b'
const colours: Record<Level, number> = { info: 0x1c7ed6, warning: 0xe8590c, error: 0xc92a2a }
/** Of what is over. */
const calm = 0x2f9e44

/** Discord takes a backslash before any character that is no letter or digit; it must not find mentions or addresses. */
const forDiscord = (c: string) => (c === '@' ? `@${gap}` : /[\\*_~`|>#[\]()<:]/.test(c) ? `\\${c}` : c)
const inCode = (c: string) => (c === '`' ? 'ʼ' : c === '@' ? `@${gap}` : c)
/** https://discord.com/developers/docs/resources/message#embed-object-embed-limits */
export const discordForm = (message: Message, site: Site, link: string): object => {
  let left = 5800
  const take = (text: string, most: number, escape = forDiscord) => {
    const fittingText = fit(text, Math.max(0, Math.min(most, left)), escape)
    left -= fittingText.length
    return fittingText
  }
  const title = take(message.title, 256)
  const footer = take(site.name, 200, c => c)
  const fields = message.facts.slice(0, 25).flatMap(({ name, value }) => {
    const field = { name: take(name, 256), value: take(value, 1024), inline: true }
    return field.name && field.value ? [field] : []
  })
  const description = [take(message.text, 1500)]
  let room = 4096 - 20 - (description[0]?.length ?? 0)
  for (const table of message.tables) {
    const most = Math.min(room, left, 1200) - table.title.length - 20
    if (most < 120) break
    const code = fit(tableText(table, most), most, inCode)
    const part = `${table.title ? `**${table.title}**\n` : ''}\`\`\`\n${code}\n\`\`\``
    description.push(part)
    room -= part.length + 1
    left -= part.length + 1
  }
  return {
    embeds: [
      {
        title,
        url: link,
        description: description.filter(Boolean).join('\n'),
        color: message.alert?.status === 'resolved' ? calm : colours[message.level],
        timestamp: iso(message.at),
        fields,
        footer: { text: footer },
      },
    ],
    // Nobody is ever pinged, whatever a log line says.
    allowed_mentions: { parse: [] },
  }
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const forSlack = (c: string) => entities[c] ?? c
const inSlackCode = (c: string) => (c === '`' ? 'ʼ' : forSlack(c))
/** For text that Mattermost and Rocket.Chat read as markdown: no mentions, links or code. */
const forMarkdown = (c: string) =>
  c === '@' ? `@${gap}` : c === '`' ? 'ʼ' : c === ']' || c === ':' ? `${c}${gap}` : forSlack(c)
/** https://api.slack.com/reference/block-kit/blocks; `text` is complete on its own for services that know no blocks. */
export const slackForm = (message: Message, site: Site, link: string): object => {
  const plain = (text: string, most: number) => ({ type: 'plain_text', text: fit(text, most, forSlack), emoji: false })
  const fields = message.facts.slice(0, 10).map(({ name, value }) => plain(`${name}: ${value}`, 1900))
  const tables = message.tables.slice(0, 20).map(table => {
    const head = table.title ? `*${fit(table.title, 100, forSlack)}*\n` : ''
    return `${head}\`\`\`${fit(tableText(table, 2700), 2800, inSlackCode)}\`\`\``
  })
  const anchor = `<${link.replace(/[<>|]/g, '')}|${fit(message.label, 100, forSlack)}>`
  const facts = message.facts.map(
    ({ name, value }) => `${fit(name, 100, forMarkdown)}: ${fit(value, 300, forMarkdown)}`,
  )
  const text = [
    `*${fit(message.title, 200, forMarkdown)}*`,
    fit(message.text, 1000, forMarkdown),
    ...facts.slice(0, 25),
    ...tables,
    anchor,
  ]
  return {
    text: text.filter(Boolean).join('\n').slice(0, 12_000),
    blocks: [
      { type: 'header', text: plain(message.title, 150) },
      ...(message.text ? [{ type: 'section', text: plain(message.text, 3000) }] : []),
      ...(fields.length > 0 ? [{ type: 'section', fields }] : []),
      ...tables.map(table => ({ type: 'section', text: { type: 'mrkdwn', text: table, verbatim: true } })),
      {
        type: 'context',
        elements: [{ type: 'mrkdwn', text: `${anchor} · ${fit(site.name, 150, forSlack)}`, verbatim: true }],
      },
    ],
  }
}

/** The form for everything else; docs/guides/channels.md describes it. */
export const jsonForm = (message: Message, site: Site, link: string): object => ({
  version: 1,
  category: message.category,
  level: message.level,
  at: iso(message.at),
  site: { name: site.name, url: site.url },
  title: message.title,
  text: message.text,
  facts: message.facts,
  tables: message.tables,
  link,
})
