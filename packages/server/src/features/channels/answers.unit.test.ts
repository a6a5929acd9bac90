import { expect, test } from 'vitest'
import { refusalIn } from './answers.ts'

const teams = 'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error'
test.each([
  [`${teams} 429 with ContextId tcid=0`, 429],
  [JSON.stringify(`${teams} 413`), 413],
  ['delivery failed', null],
  ['{"ok":false,"error":"channel_not_found"}', null],
  ['{"success":false}', null],
  ['{"status":"error"}', null],
  ['{"error":{"code":"x"}}', null],
  ['{"errors":["x"]}', null],
  ['{"errcode":"M_FORBIDDEN"}', null],
  ['{"code":50006,"message":"x"}', null],
  ['{"http":429,"error":"limit"}', 429],
  ['{"ok":false,"error_code":400}', 400],
])('%s is a refusal', (text, status) => expect(refusalIn(text)).toEqual({ status }))

test.each([
  '',
  'ok',
  '1',
  'true',
  'null',
  '[]',
  '{"ok":true}',
  '{"status":"success","message":"Event processed"}',
  '{"id":"x","event":"message","expires":1764300000}',
  '{"error":"","errors":[],"details":[]}',
  '{"error":null}',
  '{"result":{"text":"delivery failed, HTTP error 429"}}',
  '{"result":{"text":"delivery failed, returned HTTP error 429 and then the answer is c',
])('%j is none', text => expect(refusalIn(text)).toBeNull())
