import type { Preset } from './preset.ts'

/* https://spec.matrix.org/v1.11/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid */
export const matrix: Preset = {
  id: 'matrix',
  name: 'Matrix',
  guide:
    'Make an account for Stockade, invite it to the room, join, and copy its access token. The room id begins with ! and stands in the settings of the room.',
  fields: [
    { name: 'server_url', kind: 'base', required: true, example: 'https://matrix.corp.example' },
    {
      name: 'room_id',
      kind: 'text',
      required: true,
      example: '!abcdefgh:corp.example',
      pattern: /^![\x21-\x7e]{1,254}$/,
      says: 'must begin with ! and hold no spaces',
    },
    { name: 'access_token', kind: 'text', secret: true, required: true, example: 'syt_c3RvY2thZGU_token' },
  ],
  call: {
    method: 'PUT',
    url: '{{server_url}}/_matrix/client/v3/rooms/{{room_id}}/send/m.room.message/{{delivery}}',
    headers: { authorization: 'Bearer {{access_token}}' },
    body: { msgtype: 'm.text', body: '{{title}}\n{{text}}\n{{link}}', 'm.mentions': {} },
  },
  answer: { accepted: [200], wait: { path: 'retry_after_ms', unit: 'milliseconds' }, words: 'error' },
  limits: { title: 250, text: 12_000 },
}
