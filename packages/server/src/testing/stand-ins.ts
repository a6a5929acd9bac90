import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { recordOf } from '@stockade/contract/untrusted.ts'

/* What the documentation of each service demands of a message, written down by hand for tests. */

interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}
interface StandIn {
  readonly fields: (base: string) => Record<string, string>
  readonly secrets: readonly string[]
  /** Answers as the service would: what is wrong with a message is refused with its words. */
  readonly receive: (request: Received) => { readonly status: number; readonly body: string }
  readonly failures: readonly {
    readonly status: number
    readonly body: string
    readonly headers?: Record<string, string>
    readonly says: string
  }[]
}

const refuse = (words: string) => ({ status: 400, body: words })
/** The first wrong thing, or the answer. */
const judge = (checks: readonly (readonly [boolean, string])[], status: number, body: string) => {
  const wrong = checks.find(([isRight]) => !isRight)
  return wrong ? refuse(wrong[1]) : { status, body }
}
const isJson = ({ headers }: Received) => headers['content-type'] === 'application/json'
const jsonOf = ({ body }: Received) => recordOf(JSON.parse(body))
const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= most
const at = (value: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>(
    (found, name) => (typeof found === 'object' && found ? Reflect.get(found, name) : undefined),
    value,
  )
const busy = { status: 429, headers: { 'retry-after': '7' }, body: '{}', says: 'HTTP 429' }
const down = { status: 503, body: 'try later', says: 'HTTP 503' }

export const standIns: Readonly<Record<string, StandIn>> = {
  slack: {
    fields: base => ({ webhook_url: `${base}/services/T0000/B0000/a-token-of-slack` }),
    secrets: ['a-token-of-slack'],
    receive(request) {
      const json = jsonOf(request)
      const header = at(json, 'blocks', 0, 'text')
      const section = at(json, 'blocks', 1, 'text')
      const context = at(json, 'blocks', 2, 'elements', 0, 'text')
      return judge(
        [
          [request.method === 'POST' && isJson(request), 'invalid_request'],
          [isText(json.text, 40_000), 'no_text'],
          [at(header, 'type') === 'plain_text' && isText(at(header, 'text'), 150), 'invalid_blocks header'],
          [at(section, 'type') === 'plain_text' && isText(at(section, 'text'), 3000), 'invalid_blocks section'],
          [isText(context, 3000) && !context.includes('<!'), 'invalid_blocks context'],
          [!/<!channel>|@everyone/.test(String(json.text)), 'a mention'],
        ],
        200,
        'ok',
      )
    },
    failures: [
      { status: 200, body: '{"ok":false,"error":"channel_is_archived"}', says: 'channel_is_archived' },
      { status: 200, body: '{"id":"x","message":"Unable to post.","status_code":500}', says: 'Unable to post' },
      { status: 403, body: 'invalid_token', says: 'invalid_token' },
      { status: 404, body: 'no_service', says: 'no_service' },
      busy,
      down,
    ],
  },
  discord: {
    fields: base => ({ webhook_url: `${base}/api/webhooks/1234567890/a-token-of-discord` }),
    secrets: ['a-token-of-discord'],
    receive(request) {
      const json = jsonOf(request)
      const embed = recordOf(at(json, 'embeds', 0))
      return judge(
        [
          [request.method === 'POST' && isJson(request), 'invalid request'],
          [isText(embed.title, 256) && isText(embed.description, 4096), 'Must be 4096 or fewer in length.'],
          [Number.isInteger(embed.color) && Number(embed.color) <= 0xffffff, 'color'],
          [!Number.isNaN(Date.parse(String(embed.timestamp))), 'timestamp'],
          [isText(at(embed, 'footer', 'text'), 2048), 'footer'],
          [/^https?:/.test(String(embed.url)), 'url'],
          [JSON.stringify(at(json, 'allowed_mentions', 'parse')) === '[]', 'mentions'],
        ],
        204,
        '',
      )
    },
    failures: [
      { status: 200, body: '{"message":"Cannot send an empty message","code":50006}', says: 'empty message' },
      { status: 401, body: '{"message":"Invalid Webhook Token","code":50027}', says: 'Invalid Webhook Token' },
      { status: 429, body: '{"message":"You are being rate limited.","retry_after":0.65}', says: 'rate limited' },
      down,
    ],
  },
  teams: {
    fields: base => ({ webhook_url: `${base}/workflows/0000/triggers/manual/paths/invoke?sig=a-token-of-teams` }),
    secrets: ['a-token-of-teams'],
    receive(request) {
      const json = jsonOf(request)
      const card = at(json, 'attachments', 0, 'content')
      const runs = [at(card, 'body', 0, 'inlines', 0), at(card, 'body', 1, 'inlines', 0)]
      return judge(
        [
          [request.method === 'POST' && isJson(request) && request.path.endsWith('sig=a-token-of-teams'), 'invalid'],
          [request.body.length < 28 * 1024, 'Message size too large'],
          [json.type === 'message', 'type'],
          [
            at(json, 'attachments', 0, 'contentType') === 'application/vnd.microsoft.card.adaptive' &&
              at(card, 'type') === 'AdaptiveCard' &&
              at(card, 'version') === '1.4',
            'card',
          ],
          [runs.every(run => at(run, 'type') === 'TextRun' && isText(at(run, 'text'), 10_000)), 'runs'],
          [['Accent', 'Warning', 'Attention', 'Good'].includes(String(at(runs[0], 'color'))), 'colour'],
          [at(card, 'actions', 0, 'type') === 'Action.OpenUrl', 'action'],
        ],
        202,
        '',
      )
    },
    failures: [
      {
        status: 200,
        body: 'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId tcid=0',
        says: 'HTTP error 429',
      },
      { status: 202, body: '"Webhook message delivery failed with error: no channel"', says: 'no channel' },
      { status: 400, body: '{"error":{"code":"TriggerInputSchemaMismatch"}}', says: 'TriggerInputSchemaMismatch' },
      busy,
      down,
    ],
  },
  telegram: {
    fields: base => ({ server_url: base, bot_token: '123456:a-token-of-telegram', chat_id: '-1001234567890' }),
    secrets: ['a-token-of-telegram'],
    receive(request) {
      const json = jsonOf(request)
      return judge(
        [
          [request.method === 'POST' && isJson(request), 'Bad Request'],
          [request.path === '/bot123456:a-token-of-telegram/sendMessage', 'Not Found'],
          [json.chat_id === '-1001234567890', 'Bad Request: chat not found'],
          [isText(json.text, 4096), 'Bad Request: message is too long'],
          [json.parse_mode === undefined, 'markup of strangers'],
          [at(json, 'link_preview_options', 'is_disabled') === true, 'preview'],
        ],
        200,
        '{"ok":true,"result":{"message_id":1}}',
      )
    },
    failures: [
      { status: 401, body: '{"ok":false,"error_code":401,"description":"Unauthorized"}', says: 'Unauthorized' },
      { status: 200, body: '{"ok":false,"description":"not taken"}', says: 'not taken' },
      {
        status: 429,
        body: '{"ok":false,"description":"Too Many Requests: retry after 5","parameters":{"retry_after":5}}',
        says: 'Too Many Requests',
      },
    ],
  },
  ntfy: {
    fields: base => ({ server_url: base, topic: 'a-topic-of-ntfy', token: 'tk_a-token-of-ntfy' }),
    secrets: ['a-topic-of-ntfy', 'tk_a-token-of-ntfy'],
    receive(request) {
      const json = jsonOf(request)
      return judge(
        [
          [request.method === 'POST' && request.path === '/', 'not found'],
          [request.headers.authorization === 'Bearer tk_a-token-of-ntfy', 'forbidden'],
          [json.topic === 'a-topic-of-ntfy', 'topic'],
          [isText(json.title, 250), 'title'],
          [isText(json.message, 4096) && Buffer.byteLength(json.message) <= 4096, 'message too long'],
          [Number.isInteger(json.priority) && Number(json.priority) >= 1 && Number(json.priority) <= 5, 'priority'],
          [Array.isArray(json.tags) && json.tags.every(tag => isText(tag, 50)), 'tags'],
          [/^https?:/.test(String(json.click)), 'click'],
        ],
        200,
        '{"id":"hwQ2YpKdmg","event":"message"}',
      )
    },
    failures: [
      { status: 200, body: '{"code":42908,"http":429,"error":"daily quota reached"}', says: 'daily quota' },
      { status: 403, body: '{"code":40301,"http":403,"error":"forbidden"}', says: 'forbidden' },
      { status: 429, body: '{"code":42901,"error":"limit reached: too many requests"}', says: 'limit reached' },
      down,
    ],
  },
  gotify: {
    fields: base => ({ server_url: base, token: 'a-token-of-gotify' }),
    secrets: ['a-token-of-gotify'],
    receive(request) {
      const json = jsonOf(request)
      return judge(
        [
          [request.method === 'POST' && request.path === '/message' && isJson(request), 'not found'],
          [request.headers['x-gotify-key'] === 'a-token-of-gotify', 'you need to provide a valid access token'],
          [isText(json.message, 10_000) && isText(json.title, 300), 'message'],
          [Number.isInteger(json.priority) && Number(json.priority) >= 0 && Number(json.priority) <= 10, 'priority'],
          [at(json, 'extras', 'client::display', 'contentType') === 'text/plain', 'extras'],
        ],
        200,
        '{"id":25,"appid":5}',
      )
    },
    failures: [
      {
        status: 200,
        body: '{"error":"Bad Request","errorCode":400,"errorDescription":"no such application"}',
        says: 'no such application',
      },
      {
        status: 401,
        body: '{"error":"Unauthorized","errorCode":401,"errorDescription":"you need a valid access token"}',
        says: 'you need a valid access token',
      },
      busy,
      down,
    ],
  },
  matrix: {
    fields: base => ({ server_url: base, room_id: '!abc/d:corp.example', access_token: 'a-token-of-matrix' }),
    secrets: ['a-token-of-matrix'],
    receive(request) {
      const json = jsonOf(request)
      const path = /^\/_matrix\/client\/v3\/rooms\/([^/]+)\/send\/m\.room\.message\/([^/]+)$/.exec(request.path)
      return judge(
        [
          [request.method === 'PUT' && isJson(request), 'M_UNRECOGNIZED'],
          [decodeURIComponent(path?.[1] ?? '') === '!abc/d:corp.example', 'M_FORBIDDEN'],
          [isText(path?.[2], 255), 'M_UNRECOGNIZED transaction'],
          [request.headers.authorization === 'Bearer a-token-of-matrix', 'M_UNKNOWN_TOKEN'],
          [json.msgtype === 'm.text' && isText(json.body, 60_000), 'M_BAD_JSON'],
          [json.formatted_body === undefined && JSON.stringify(json['m.mentions']) === '{}', 'markup of strangers'],
        ],
        200,
        '{"event_id":"$abc"}',
      )
    },
    failures: [
      { status: 200, body: '{"errcode":"M_FORBIDDEN","error":"not in it"}', says: 'not in it' },
      { status: 403, body: '{"errcode":"M_FORBIDDEN","error":"You are not in the room"}', says: 'not in the room' },
      {
        status: 429,
        body: '{"errcode":"M_LIMIT_EXCEEDED","error":"Too many requests","retry_after_ms":2000}',
        says: 'Too many requests',
      },
    ],
  },
  pagerduty: {
    fields: base => ({ server_url: base, routing_key: 'a0token0of0pagerduty0a0token0of0' }),
    secrets: ['a0token0of0pagerduty0a0token0of0'],
    receive(request) {
      const json = jsonOf(request)
      const payload = recordOf(json.payload)
      const isTrigger = json.event_action === 'trigger'
      return judge(
        [
          [request.method === 'POST' && request.path === '/v2/enqueue' && isJson(request), 'not found'],
          [json.routing_key === 'a0token0of0pagerduty0a0token0of0', 'Invalid routing key'],
          [isTrigger || json.event_action === 'resolve', "'event_action' is invalid"],
          [isText(json.dedup_key, 255), "'dedup_key' is too long"],
          [
            !isTrigger || (isText(payload.summary, 1024) && isText(payload.source, 1024)),
            "'payload.summary' is missing",
          ],
          [
            !isTrigger || ['critical', 'error', 'warning', 'info'].includes(String(payload.severity)),
            "'payload.severity' is invalid",
          ],
          [!isTrigger || !Number.isNaN(Date.parse(String(payload.timestamp))), 'timestamp'],
        ],
        202,
        '{"status":"success","message":"Event processed","dedup_key":"x"}',
      )
    },
    failures: [
      {
        status: 400,
        body: '{"status":"invalid event","message":"Event object is invalid","errors":[]}',
        says: 'Event object is invalid',
      },
      { status: 202, body: '{"status":"odd","message":"not processed"}', says: 'not processed' },
      busy,
      down,
    ],
  },
  opsgenie: {
    fields: base => ({ server_url: base, api_key: 'a-token-of-opsgenie' }),
    secrets: ['a-token-of-opsgenie'],
    receive(request) {
      const json = jsonOf(request)
      const isClose = /^\/v2\/alerts\/[^/]{1,512}\/close\?identifierType=alias$/.test(request.path)
      return judge(
        [
          [request.method === 'POST' && isJson(request), 'not found'],
          [isClose || request.path === '/v2/alerts', 'not found'],
          [request.headers.authorization === 'GenieKey a-token-of-opsgenie', 'Could not authenticate'],
          [isClose || isText(json.message, 130), 'Message can not be longer than 130'],
          [isClose || (isText(json.alias, 512) && isText(json.description, 15_000)), 'alias'],
          [isClose || /^P[1-5]$/.test(String(json.priority)), 'priority'],
          [isText(json.source, 250) || isText(json.source, 1000), 'source'],
        ],
        202,
        '{"result":"Request will be processed","requestId":"x"}',
      )
    },
    failures: [
      { status: 202, body: '{"message":"Key format is not valid!","code":40301}', says: 'Key format' },
      { status: 403, body: '{"message":"Could not authenticate","took":0.1}', says: 'Could not authenticate' },
      busy,
      down,
    ],
  },
  apprise: {
    fields: base => ({ server_url: base, config_key: 'a-key-of-apprise' }),
    secrets: ['a-key-of-apprise'],
    receive(request) {
      const json = jsonOf(request)
      return judge(
        [
          [request.method === 'POST' && request.path === '/notify/a-key-of-apprise' && isJson(request), 'not found'],
          [isText(json.body, 32_000) && isText(json.title, 250), 'Message lacks content'],
          [['info', 'success', 'warning', 'failure'].includes(String(json.type)), 'type'],
          [json.format === 'text' && isText(json.tag, 100), 'format'],
        ],
        200,
        'webhook_url',
      )
    },
    failures: [
      { status: 200, body: '{"error":"No tag matches","details":[]}', says: 'No tag matches' },
      { status: 204, body: '', says: 'HTTP 204' },
      { status: 424, body: '{"error":"One or more notification could not be sent"}', says: 'could not be sent' },
    ],
  },
  webhook: {
    fields: base => ({
      url: `${base}/in/a-token-of-hooks`,
      secret: 'a-secret-of-hooks',
      authorization: 'Bearer hooks-x',
    }),
    secrets: ['a-token-of-hooks', 'a-secret-of-hooks', 'hooks-x'],
    receive(request) {
      const json = jsonOf(request)
      const [, t = '', v1 = ''] =
        /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(request.headers['x-stockade-signature'])) ?? []
      const expected = createHmac('sha256', 'a-secret-of-hooks').update(`${t}.${request.body}`).digest('hex')
      return judge(
        [
          [request.method === 'POST' && isJson(request) && request.path === '/in/a-token-of-hooks', 'not found'],
          [v1 === expected, 'wrong signature'],
          [request.headers.authorization === 'Bearer hooks-x', 'authorization'],
          [isText(request.headers['idempotency-key'], 100), 'key'],
          [json.version === 1 && isText(json.title, 500) && json.status === 'firing', 'body'],
        ],
        204,
        '',
      )
    },
    failures: [busy, down, { status: 301, body: '', headers: { location: '/' }, says: 'redirects' }],
  },
}
