import type { Message } from '../../db/tables/message.ts'
import { oneLine } from '../channels/message.ts'
import type { Site } from '../channels/message.ts'
import type { Section, Words } from './report-words.ts'

/*
 * Mail programs drop style elements, so each element has its own style. Without pictures, fonts or links to elsewhere. The
 * colours keep their contrast when a program turns them dark by itself, because text and ground are both given.
 */

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const html = (text: string) => text.replace(/[&<>"']/g, character => escapes[character] ?? character)

const ink = 'color:#1c2024'
const quiet = 'color:#5c636b;font-size:13px'
const cell = 'padding:6px 8px 6px 0;border-bottom:1px solid #d9dde1;vertical-align:top;text-align:left'
const right = `${cell};text-align:right;padding-right:0;white-space:nowrap`

const sectionHtml = ({ title, rows, note }: Section): string => {
  const lines = rows
    .map(
      row =>
        `<tr><td style="${cell};${ink};word-break:break-word">${html(row.name)}${row.note ? `<br><span style="${quiet}">${html(row.note)}</span>` : ''}</td><td style="${right};${ink}">${html(row.value)}</td></tr>`,
    )
    .join('')
  const table =
    rows.length > 0
      ? `<table role="presentation" style="border-collapse:collapse;width:100%;font-size:15px">${lines}</table>`
      : ''
  const below = note ? `<p style="margin:6px 0 0;${quiet}">${html(note)}</p>` : ''
  return `<h2 style="font-size:17px;line-height:24px;margin:28px 0 4px;${ink}">${html(title)}</h2>${table}${below}`
}

const reportHtml = (words: Words, site: Site): string => {
  const facts = words.facts
    .map(
      ({ name, value, note }) =>
        `<tr><td style="${cell};${ink}">${html(name)}${note ? `<br><span style="${quiet}">${html(note)}</span>` : ''}</td><td style="${right};${ink};font-size:20px;font-weight:bold">${html(value)}</td></tr>`,
    )
    .join('')
  const link = html(site.url + words.path)
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>${html(words.title)}</title></head>
<body style="margin:0;padding:16px 8px;background-color:#eef0f2;${ink};font:15px/22px system-ui,-apple-system,'Segoe UI',sans-serif">
<div style="max-width:600px;margin:0 auto;padding:20px 16px;background-color:#ffffff;border-radius:8px">
<h1 style="font-size:20px;line-height:28px;margin:0 0 8px;${ink};word-break:break-word">${html(words.title)}</h1>
<p style="margin:0 0 16px;${ink}">${html(words.lead)}</p>
<table role="presentation" style="border-collapse:collapse;width:100%">${facts}</table>
${words.sections.map(sectionHtml).join('\n')}
<p style="margin:28px 0 0"><a href="${link}" style="display:inline-block;padding:10px 18px;border-radius:6px;background-color:#1864ab;color:#ffffff;text-decoration:none">Open the report</a></p>
<p style="margin:16px 0 0;${quiet};word-break:break-all">${html(oneLine(site.name))} · ${html(site.url)}</p>
</div></body></html>`
}

const sectionText = ({ title, rows, note }: Section): string =>
  [
    title,
    ...rows.map(row => `  ${row.name}: ${row.value}${row.note ? ` (${row.note})` : ''}`),
    ...(note ? [`  ${note}`] : []),
  ].join('\n')

const reportText = (words: Words, site: Site): string =>
  [
    words.title,
    words.lead,
    words.facts.map(({ name, value, note }) => `${name}: ${value}${note ? ` (${note})` : ''}`).join('\n'),
    ...words.sections.map(sectionText),
    `Open the report: ${site.url}${words.path}`,
    `-- \n${oneLine(site.name)}\n${site.url}`,
  ].join('\n\n')

/** For mail, and shorter for chats and other channels. */
export const messageOf = (words: Words, site: Site, at: number): Message => ({
  category: 'summary',
  level: 'info',
  title: words.title,
  text: words.lead,
  facts: words.facts.map(({ name, value, note }) => ({ name, value: note ? `${value}, ${note}` : value })),
  tables: words.sections
    .filter(({ rows }) => rows.length > 0)
    .map(({ title, rows }) => ({
      title,
      columns: [title, 'Figure', ''],
      rows: rows.map(({ name, value, note }) => [name, value, note]),
      total: rows.length,
    })),
  path: words.path,
  label: 'Open the report',
  at,
  mail: { text: reportText(words, site), html: reportHtml(words, site) },
})
