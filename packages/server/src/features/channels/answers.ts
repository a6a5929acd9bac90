import { readOr, recordOf } from '@stockade/contract/untrusted.ts'

const isErrorStatus = (value: unknown): value is number => typeof value === 'number' && value >= 400
const isNamed = (value: unknown): boolean =>
  value === true ||
  (typeof value === 'string' && value !== '') ||
  (typeof value === 'object' && value !== null && Object.keys(value).length > 0)

/** Where services put the status of an error into their JSON. */
const statusFields = ['http', 'status_code', 'statusCode', 'status', 'error_code', 'errorCode', 'code']
/** As Microsoft Teams words it, in an answer of 200: "delivery failed with error: … endpoint returned HTTP error 429 with …". */
const failedDelivery = /\bdelivery failed\b|\breturned HTTP error [45]\d\d\b/i

/**
 * What an answer of 2xx says against itself: some services accept a request and tell in its answer that the message went nowhere.
 * Null for an answer that tells of no error; `status` is the one that the text names, as in `HTTP error 429`.
 */
export const refusalIn = (text: string): { readonly status: number | null } | null => {
  const answer = readOr(text, (): unknown => JSON.parse(text))
  if (typeof answer === 'string') {
    // The beginning of JSON that was cut may hold the message itself.
    if (/^\s*[{[]/.test(answer) || !failedDelivery.test(answer)) return null
    const statusInText = Number(/HTTP error ([45]\d\d)\b/i.exec(answer)?.[1])
    return { status: Number.isNaN(statusInText) ? null : statusInText }
  }
  const fields = recordOf(answer)
  const status = statusFields.map(name => fields[name]).find(isErrorStatus) ?? null
  const isRefused =
    status !== null ||
    fields.ok === false ||
    fields.success === false ||
    /^(?:error|failed|failure)$/i.test(String(fields.status)) ||
    ['error', 'errors', 'errcode'].some(name => isNamed(fields[name]))
  return isRefused ? { status: status !== null && status < 600 ? status : null } : null
}
