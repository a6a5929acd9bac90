import { createHmac } from 'node:crypto'
import { iso } from '../../core/clock.ts'
import type { Message } from '../../db/tables/message.ts'
import { DeliveryFailure } from './delivery.ts'
import { fit as fitEscaped, tableText } from './message.ts'
import type { Site } from './message.ts'
import type { HttpCall, Preset } from './presets/preset.ts'
import { fill, fillJson, fillOwn, mostBody } from './template.ts'
import type { Values } from './template.ts'

/** Values of a channel's fields, opened. */
export type FieldValues = Readonly<Record<string, string>>

export interface ChannelRequest {
  readonly url: string
  readonly method: 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a message says, complete, as plain text. */
const textOf = (message: Message): string =>
  [
    message.text,
    message.facts.map(({ name, value }) => `${name}: ${value}`).join('\n'),
    ...message.tables.map(table => `${table.title ? `${table.title}\n` : ''}${tableText(table, 2000)}`),
  ]
    .filter(Boolean)
    .join('\n\n') || message.title

/** Without control characters other than line breaks, so that a text stays one value wherever it is put. */
const calm = (text: string): string => text.replace(/(?!\n)[\p{Cc}\p{Surrogate}]/gu, ' ')

/** @param delivery the same for each attempt to deliver one message */
const valuesOf = (preset: Preset, message: Message, site: Site, delivery: string): Values => {
  const { alert } = message
  const status = alert?.status ?? 'firing'
  const severity = alert?.severity ?? 'info'
  const grade = status === 'resolved' ? 'resolved' : severity
  const fit = (text: string, most: number) => fitEscaped(calm(text), most, character => character)
  return {
    title: fit(message.title.replace(/\n/g, ' '), preset.limits.title),
    text: fit(textOf(message), preset.limits.text),
    severity,
    status,
    rule: fit(alert?.rule ?? message.category, 200),
    key: alert?.key ?? delivery,
    link: site.url + message.path,
    label: fit(message.label, 100),
    at: iso(message.at),
    unix: Math.floor(message.at / 1000),
    site: fit(site.name.replace(/\n/g, ' '), 150),
    site_url: site.url,
    delivery,
    ...Object.fromEntries(Object.entries(preset.scales ?? {}).map(([name, scale]) => [name, scale[grade]])),
  }
}

const urlOf = (template: string, preset: Preset, fields: FieldValues, values: Values): string => {
  const encoded: Record<string, string> = {}
  for (const [name, value] of Object.entries({ ...values, ...fields })) {
    const field = preset.fields.find(known => known.name === name)
    const isWhole = field?.kind === 'url' || field?.kind === 'base' || field?.inPath
    encoded[name] = isWhole ? String(value) : encodeURIComponent(value)
  }
  return fill(template, encoded)
}

/** A header has one line of printable ASCII; one whose placeholders are all empty is left out. */
const headersOf = (call: HttpCall, all: Values): Record<string, string> => {
  const headers: Record<string, string> = {}
  for (const [name, template] of Object.entries(call.headers ?? {})) {
    const isEmpty = fill(template, all) === fill(template, {})
    if (!isEmpty) headers[name] = fill(template, all).replace(/[^\x20-\x7e]/g, '?')
  }
  return headers
}

/** `t=<seconds>,v1=<HMAC-SHA256 in hex of "t.body">`, as docs/guides/channels.md describes. */
const signatureOf = (secret: string, body: string, now: number): string => {
  const t = Math.floor(now / 1000)
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`
}

/** The request that carries a message to an HTTP service. @throws DeliveryFailure */
export const requestOf = (
  preset: Preset & { readonly call: HttpCall },
  fields: FieldValues,
  message: { readonly content: Message; readonly site: Site; readonly delivery: string },
  now: number,
): ChannelRequest => {
  const { content, site, delivery } = message
  const values = valuesOf(preset, content, site, delivery)
  const call = content.alert?.status === 'resolved' ? (preset.resolve ?? preset.call) : preset.call
  const all = { ...values, ...fields }
  const type = fields.content_type ?? 'application/json'
  const body = fields.template
    ? fillOwn(fields.template, type, values)
    : preset.id === 'webhook' && type !== 'application/json'
      ? fillOwn(type === 'text/plain' ? '{{title}}\n{{text}}\n{{link}}' : 'title={{title}}&text={{text}}', type, values)
      : JSON.stringify(
          typeof call.body === 'function'
            ? call.body(content, site, site.url + content.path)
            : fillJson(call.body, all),
        )
  if (body.length > mostBody) throw new DeliveryFailure('content', 'The body is longer than 64 KiB.')
  return {
    url: urlOf(call.url, preset, fields, values),
    method: call.method ?? 'POST',
    headers: {
      'content-type': type === 'application/json' ? type : `${type}; charset=utf-8`,
      accept: 'application/json',
      'user-agent': 'Stockade',
      'idempotency-key': delivery,
      ...headersOf(call, all),
      ...(preset.id === 'webhook' && fields.secret
        ? { 'x-stockade-signature': signatureOf(fields.secret, body, now), 'x-stockade-delivery': delivery }
        : {}),
    },
    body,
  }
}
