import { errorText } from '@stockade/contract/error-code.ts'
import { readOr, recordOf } from '@stockade/contract/untrusted.ts'
import type { Outgoing, OutgoingReply } from '../../outgoing/outgoing.ts'

/** What is known of an address: the share of confidence that it is abusive, 0 to 100. */
export interface Reputation {
  readonly score: number
  readonly reports: number
  readonly last_reported: string | null
}
export interface Report {
  readonly ip: string
  readonly categories: readonly number[]
  readonly comment: string
  /** Epoch milliseconds. */
  readonly at: number
}

/**
 * The other side did not do what it was asked. `limit` and `credential` concern the account, `again` and `content` this report: `again`
 * is one of an address that the account has reported a moment ago. `retryAfter` in seconds where it said so.
 */
export class ProviderFailure extends Error {
  readonly kind: 'limit' | 'credential' | 'again' | 'content' | 'failure'
  readonly retryAfter: number | null
  constructor(kind: ProviderFailure['kind'], message: string, retryAfter: number | null = null) {
    super(message)
    this.kind = kind
    this.retryAfter = retryAfter
  }
}

const dataOf = (reply: OutgoingReply): Readonly<Record<string, unknown>> => {
  try {
    return recordOf(recordOf(JSON.parse(reply.text)).data)
  } catch {
    throw new ProviderFailure('failure', 'its answer is no JSON')
  }
}
const whole = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? Math.round(value) : null
const scoreOf = (data: Readonly<Record<string, unknown>>): number => {
  const score = whole(data.abuseConfidenceScore)
  if (score === null) throw new ProviderFailure('failure', 'its answer has no score')
  return Math.min(100, Math.max(0, score))
}
/** The first error of an answer; empty where it has none. */
const errorOf = (reply: OutgoingReply): Readonly<Record<string, unknown>> =>
  readOr({}, () => {
    const { errors } = recordOf(JSON.parse(reply.text))
    return recordOf(Array.isArray(errors) ? errors[0] : null)
  })
/** The service's own words, as far as they are short and harmless. */
const wordsOf = (reply: OutgoingReply): string => {
  const { detail } = errorOf(reply)
  return typeof detail === 'string'
    ? `${reply.status}: ${detail.replace(/\p{Cc}/gu, ' ').slice(0, 200)}`
    : `HTTP ${reply.status}`
}
/** The service answers 429 for the account's limit and for a second report of one address, and names the address as the cause of the latter. */
const isAboutAddress = (reply: OutgoingReply): boolean => {
  const { detail, source } = errorOf(reply)
  return recordOf(source).parameter === 'ip' || /\bsame (?:IP )?address\b/i.test(String(detail))
}
const kindOf = (reply: OutgoingReply): ProviderFailure['kind'] => {
  switch (reply.status) {
    case 429:
      return isAboutAddress(reply) ? 'again' : 'limit'
    case 401:
    case 403:
      return 'credential'
    case 400:
    case 422:
      return 'content'
    default:
      return 'failure'
  }
}
const failureOf = (reply: OutgoingReply): ProviderFailure => {
  const retryHeader = Number(reply.headers['retry-after'])
  const retryAfter = Number.isFinite(retryHeader) && retryHeader > 0 ? Math.min(retryHeader, 2 * 86_400) : null
  return new ProviderFailure(kindOf(reply), wordsOf(reply), retryAfter)
}

/**
 * AbuseIPDB's API, version 2: `GET /check` and `POST /report` (https://docs.abuseipdb.com), or a compatible service.
 * @throws ProviderFailure, or the connection's error
 */
export const createAbuseIpdb = (outgoing: Outgoing, baseUrl: string) => {
  const ask = async (
    key: string,
    path: string,
    options: { method?: 'POST'; body?: string; timeout: number },
  ): Promise<Readonly<Record<string, unknown>>> => {
    const reply = await outgoing
      .request(`${baseUrl}${path}`, {
        ...options,
        headers: {
          key,
          accept: 'application/json',
          ...(options.body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        },
      })
      .catch((error: unknown) => {
        throw new ProviderFailure('failure', errorText(error))
      })
    if (reply.status !== 200) throw failureOf(reply)
    return dataOf(reply)
  }
  return {
    async check(key: string, ip: string): Promise<Reputation> {
      const query = new URLSearchParams({ ipAddress: ip, maxAgeInDays: '90' })
      const data = await ask(key, `/check?${query.toString()}`, { timeout: 2000 })
      const last = typeof data.lastReportedAt === 'string' ? Date.parse(data.lastReportedAt) : NaN
      return {
        score: scoreOf(data),
        reports: Math.max(0, whole(data.totalReports) ?? 0),
        last_reported: Number.isNaN(last) ? null : new Date(last).toISOString(),
      }
    },
    /** Answers the address's score after the report. */
    async report(key: string, { ip, categories, comment, at }: Report): Promise<number> {
      const body = new URLSearchParams({
        ip,
        categories: categories.join(','),
        comment,
        timestamp: new Date(at).toISOString(),
      }).toString()
      return scoreOf(await ask(key, '/report', { method: 'POST', body, timeout: 10_000 }))
    },
  }
}
