/**
 * Why a request was refused, as a code: clients decide by it and never by a sentence. The first ones say no more than the status; the
 * others are for refusals that a client answers with something of its own. New ones may be added, so a client treats one that it does
 * not know like the status.
 */
export const problemReasons = {
  invalid: 'The request is malformed or fails validation; `details` names the fields. Status 400.',
  'connection-failed': 'The SIEM test can’t reach its target. Status 400.',
  unauthorized: 'No credential, or one that is unknown, expired, revoked or wrong. Status 401.',
  'payment-required': 'The licence does not cover it. Status 402.',
  forbidden: 'The permission is too low, or the access does not reach there. Status 403.',
  'proof-required': 'The identity must be proved again first; `step_up` names the ways. Status 403.',
  'not-found': 'Nothing has this id, or there is no such path. Status 404.',
  'method-not-allowed': 'The path takes other methods. Status 405.',
  conflict: 'The state of what is asked for does not allow it. Status 409.',
  'force-required': 'It would be done with `force: true`; `details` says what speaks against it. Status 409.',
  'signature-required': 'Servers take it only with an operator’s signature; `seal_required` names them. Status 409.',
  'share-confirmation-required': 'The whitelist would cover very much; `coverage` has the figures. Status 409.',
  'username-taken': 'Another user has this name. Status 409.',
  'email-taken': 'Another user has this e-mail address. Status 409.',
  'payload-too-large': 'The body is over its bound. Status 413.',
  'unsupported-media-type': 'The body is not JSON. Status 415.',
  'too-many-requests': 'A budget is spent or an account is locked; `Retry-After` says for how long. Status 429.',
  'server-error': 'A defect; the log has it. Status 500.',
  'bad-gateway': 'A service that Stockade calls, or a proxy in front of it, failed. Status 502.',
  unavailable: 'The server is shutting down or storage does not answer. Status 503.',
} as const
export type ProblemReason = keyof typeof problemReasons

/** What a status says by itself; a defect where it says nothing. */
export const reasonOfStatus = (status: number): ProblemReason => reasons.get(status) ?? 'server-error'
const reasons: ReadonlyMap<number, ProblemReason> = new Map([
  [400, 'invalid'],
  [401, 'unauthorized'],
  [402, 'payment-required'],
  [403, 'forbidden'],
  [404, 'not-found'],
  [405, 'method-not-allowed'],
  [409, 'conflict'],
  [413, 'payload-too-large'],
  [415, 'unsupported-media-type'],
  [429, 'too-many-requests'],
  [502, 'bad-gateway'],
  [503, 'unavailable'],
])
