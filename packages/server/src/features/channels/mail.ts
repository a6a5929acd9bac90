import { isIP } from 'node:net'
import { recordOf } from '@stockade/contract/untrusted.ts'
import { saidBy } from '../../core/text.ts'
import type { Message } from '../../db/tables/message.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Note } from '../../outgoing/steps.ts'
import { DeliveryFailure } from './delivery.ts'
import { watchMail } from './mail-steps.ts'
import { oneLine, tableText } from './message.ts'
import type { Site } from './message.ts'

export interface MailTarget {
  readonly host: string
  readonly port: number
  readonly user: string | null
  readonly pass: string | null
  /** TLS with a certificate that fits, or none at all; else as the server likes, unchecked. */
  readonly tls: boolean
  readonly from: string
  /** What Stockade calls itself (EHLO). */
  readonly name: string
  readonly recipients: readonly string[]
}
export interface Refusal {
  readonly address: string
  readonly words: string
  /** It may take it later (a reply of 4xx). */
  readonly temporary: boolean
}

/** Complete on its own, for readers of text only. */
export const mailTextOf = (message: Message, site: Site): string =>
  [
    message.title,
    message.text,
    message.facts.map(({ name, value }) => `${name}: ${value}`).join('\n'),
    ...message.tables.map(table => `${table.title ? `${table.title}\n` : ''}${tableText(table, 20_000)}`),
    `${message.label}: ${site.url}${message.path}`,
    `-- \n${oneLine(site.name)}\n${site.url}`,
  ]
    .filter(Boolean)
    .join('\n\n')

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const html = (text: string) => text.replace(/[&<>"']/g, c => escapes[c] ?? c)

const bars = { info: '#1c7ed6', warning: '#e8590c', error: '#c92a2a' }
const style = `:root{color-scheme:light dark}
body{margin:0;padding:24px 12px;background:#f1f3f5;color:#212529;font:15px/1.5 system-ui,sans-serif}
.card{max-width:640px;margin:0 auto;padding:20px 24px;background:#fff;border-radius:8px}
h1{font-size:20px;margin:0 0 12px}h2{font-size:15px;margin:20px 0 4px}
table{border-collapse:collapse;width:100%;font-size:13px}
th,td{text-align:left;padding:4px 8px 4px 0;border-bottom:1px solid #dee2e6;vertical-align:top}
.quiet{color:#495057;font-size:12px}
@media (prefers-color-scheme:dark){body{background:#141517;color:#e9ecef}.card{background:#1f2226}
th,td{border-color:#495057}.quiet{color:#ced4da}}`

/** Without anything from elsewhere: no pictures, no fonts. Inline colours are only what both schemes can bear. */
export const mailHtmlOf = (message: Message, site: Site): string => {
  const facts = message.facts
    .map(({ name, value }) => `<tr><th>${html(name)}</th><td>${html(value)}</td></tr>`)
    .join('')
  const tables = message.tables.map(({ title, columns, rows, total }) => {
    const line = (cells: readonly string[], cell: string) =>
      `<tr>${cells.map(text => `<${cell}>${html(text)}</${cell}>`).join('')}</tr>`
    const more = total > rows.length ? `<p class="quiet">… and ${total - rows.length} more</p>` : ''
    const head = title ? `<h2>${html(title)}</h2>` : ''
    return `${head}<table>${line(columns, 'th')}${rows.map(row => line(row, 'td')).join('')}</table>${more}`
  })
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark"><title>${html(message.title)}</title><style>${style}</style></head>
<body><div class="card" style="border-top:4px solid ${bars[message.level]}"><h1>${html(message.title)}</h1>
${message.text ? `<p>${html(message.text)}</p>` : ''}${facts ? `<table>${facts}</table>` : ''}${tables.join('')}
<p><a href="${html(site.url + message.path)}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#1864ab;color:#ffffff;text-decoration:none">${html(message.label)}</a></p>
<p class="quiet">${html(oneLine(site.name))} · ${html(site.url)}</p></div></body></html>`
}

interface SmtpError extends Error {
  readonly code?: string
  readonly response?: string
  /** The command that failed, such as `STARTTLS`. */
  readonly command?: string
  readonly responseCode?: number
  readonly recipient?: string
  readonly rejectedErrors?: readonly SmtpError[]
}
const isSmtpError = (error: unknown): error is SmtpError => error instanceof Error

/** Options of nodemailer. Times are milliseconds. */
const connectionOf = ({ host, port, tls, user, pass, name }: MailTarget, address: string) => ({
  host: address,
  port,
  secure: port === 465,
  requireTLS: tls && port !== 465,
  name,
  ...(user === null ? {} : { auth: { user, pass: pass ?? '' } }),
  tls: { rejectUnauthorized: tls, ...(isIP(host) ? {} : { servername: host }) },
  connectionTimeout: 10_000,
  greetingTimeout: 10_000,
  socketTimeout: 15_000,
  disableFileAccess: true,
  disableUrlAccess: true,
})

/**
 * Sends one mail to all recipients and answers those that the server refused while it took others.
 * @throws DeliveryFailure when it took the mail for nobody
 */
export const sendMail = async (
  outgoing: Outgoing,
  target: MailTarget,
  message: Message,
  site: Site,
  note?: Note,
): Promise<readonly Refusal[]> => {
  // As it is, and as AUTH LOGIN and AUTH PLAIN send it.
  const { user, pass } = target
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const secrets = pass ? [pass, base64(pass), base64(`\0${user ?? ''}\0${pass}`)] : []
  const errorText = (error: SmtpError) => saidBy(error.response ?? error.message, secrets)
  const watch = watchMail(note, { ...target, signsIn: user !== null })
  try {
    const to = await outgoing.reach(target.host, target.port)
    watch.resolved(to.address)
    const { createTransport } = await import('./smtp.ts')
    const transport = createTransport({ ...connectionOf(target, to.address), logger: watch.logger as never })
    try {
      const sent = await transport.sendMail({
        from: { name: oneLine(site.name), address: target.from },
        to: target.recipients.map(address => ({ name: '', address })),
        subject: oneLine(`[${oneLine(site.name, 40)}] ${message.title}`),
        text: message.mail?.text ?? mailTextOf(message, site),
        html: message.mail?.html ?? mailHtmlOf(message, site),
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: AbortSignal.timeout(30_000),
      })
      watch.answered(saidBy(sent.response, secrets))
      const { rejectedErrors } = recordOf(sent)
      const errors = Array.isArray(rejectedErrors) ? rejectedErrors.filter(isSmtpError) : []
      return sent.rejected.map(address => {
        const error = errors.find(({ recipient }) => recipient === address)
        const code = error?.responseCode ?? 550
        return { address, words: error ? errorText(error) : 'refused', temporary: code < 500 }
      })
    } finally {
      transport.close()
    }
  } catch (error) {
    if (!isSmtpError(error)) throw error
    watch.failed(error, errorText(error))
    throw failureOf(error, errorText(error))
  }
}

const failureOf = ({ code, command, responseCode = 0 }: SmtpError, words: string): DeliveryFailure => {
  if (code === 'EENVELOPE') return new DeliveryFailure('refused', words)
  const kind = code === 'EMESSAGE' && responseCode >= 500 ? 'content' : 'failure'
  if (code === 'EABORT' || code === 'ETIMEDOUT') return new DeliveryFailure(kind, `no answer in time (${words})`)
  if (command === 'STARTTLS') return new DeliveryFailure(kind, `no TLS with it, and smtp_tls demands it (${words})`)
  return new DeliveryFailure(kind, words)
}
