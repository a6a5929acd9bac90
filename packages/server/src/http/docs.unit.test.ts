import { describe, expect, test } from 'vitest'
import { endpointNames, endpoints } from '@stockade/contract'
import { renderDocs } from './docs.ts'
import { openApiOf } from './openapi/document.ts'

const hostile = `<script>alert(1)</script>"'&\`x\``
const document = {
  openapi: '3.1.0',
  info: { title: 'Stockade', version: '1.2.3', description: 'Fleets of `fail2ban` hosts.' },
  servers: [{ url: '/api/v1' }],
  tags: [{ name: 'Servers', description: 'Hosts.' }, { name: 'Unused' }],
  paths: {
    '/bans': {
      get: {
        tags: ['Bans'],
        summary: 'List bans',
        'x-access': 'read',
        'x-rate': 'standard',
        parameters: [
          { name: 'jail', in: 'query', schema: { type: 'string', minLength: 1, maxLength: 64 } },
          { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 } },
          { name: 'from', in: 'query', required: true, schema: { type: 'string', format: 'date-time' } },
        ],
        responses: {
          200: {
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['bans', 'total'],
                  properties: {
                    bans: {
                      type: 'array',
                      items: {
                        type: 'object',
                        properties: {
                          id: { type: 'integer' },
                          country: { type: ['string', 'null'] },
                          server: { type: 'object', properties: { hostname: { type: 'string' } } },
                        },
                      },
                    },
                    by_type: { type: 'object', patternProperties: { '^.*$': { type: 'integer' } } },
                    total: { type: 'integer' },
                  },
                },
              },
            },
          },
          401: { description: 'No credential, or one that is not valid.' },
        },
      },
    },
    '/servers/{serverId}/commands': {
      post: {
        tags: ['Servers'],
        summary: 'Queue a command',
        description: 'As in `ban-ip`.',
        'x-access': 'agent',
        'x-licence': 'port_knocking',
        'x-rate': 'sensitive',
        'x-fleet': true,
        parameters: [{ name: 'serverId', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['type', 'ports', 'note'],
                properties: {
                  type: { type: 'string', enum: ['ban-ip', 'unban-ip'] },
                  ports: { type: 'array', items: { type: 'integer', minimum: 7000 }, minItems: 2, maxItems: 10 },
                  note: { type: 'string', examples: ["it's"] },
                  timeout: { type: 'integer', default: 30 },
                },
              },
            },
          },
        },
        responses: {
          201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Made' } } } },
          409: { description: 'Not now.' },
        },
      },
    },
    '/auth/login': {
      post: {
        tags: ['Auth'],
        summary: 'Sign in',
        'x-access': 'public',
        responses: {
          200: {
            content: {
              'application/json': {
                schema: {
                  anyOf: [
                    { type: 'object', properties: { access_token: { type: 'string' } } },
                    { type: 'object', properties: { mfa_required: { const: true } } },
                  ],
                },
              },
            },
          },
        },
      },
    },
    '/whitelist.txt': {
      get: {
        tags: ['Whitelist'],
        summary: 'As text',
        responses: { 200: { content: { 'text/plain': { schema: { type: 'string' } } } } },
      },
    },
  },
  components: { schemas: { Made: { type: 'object', properties: { command_id: { type: 'string', format: 'uuid' } } } } },
}

/** The text of one operation as a reader sees it, without marks. */
const articleOf = (html: string, id: string): string => {
  const article = html.split('<article').find(part => part.startsWith(` aria-labelledby="${id}"`)) ?? ''
  return article
    .replace(/<wbr>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/[ \t]+/g, ' ')
}

describe('the page', () => {
  const { html, css, js } = renderDocs(document)

  test('lists every operation under its tag, tags of the document first, and links to it', () => {
    expect([...html.matchAll(/<summary>([^<]+)</g)].map(match => match[1])).toEqual([
      'Servers',
      'Bans',
      'Auth',
      'Whitelist',
    ])
    const ids = [...html.matchAll(/<h3 id="([^"]+)"/g)].map(match => match[1])
    expect(ids).toEqual(['post-servers-serverid-commands', 'get-bans', 'post-auth-login', 'get-whitelist-txt'])
    for (const id of ids) expect(html).toContain(`<li><a href="#${id}">`)
  })

  test('says what a call takes: who, licence, limit, parameters, body', () => {
    const text = articleOf(html, 'post-servers-serverid-commands')
    expect(text).toContain('Agents: an API key that is bound to a server and has write permission.')
    expect(text).toContain('Not with a key that is bound to one server.')
    expect(text).toContain('Needs one with port knocking.')
    expect(text).toContain('10 requests a minute, counted apart.')
    expect(text).toMatch(/serverId \(path\) required string \(uuid\)/)
    expect(text).toMatch(/type required string one of ban-ip, unban-ip/)
    expect(text).toMatch(/ports required array of integer 2 to 10 items/)
    expect(text).toMatch(/timeout integer default 30/)
    expect(html).toContain('<p>As in <code>ban-ip</code>.</p>')
  })

  test('says what comes back: fields inside fields, what may be null, either of two, text', () => {
    const bans = articleOf(html, 'get-bans')
    expect(bans).toMatch(/bans array of object/)
    expect(bans).toMatch(/bans\[\]\.country string or null/)
    expect(bans).toMatch(/bans\[\]\.server\.hostname string/)
    expect(bans).toMatch(/by_type\.\* integer/)
    // What most operations have in common stands once, at the top.
    expect(bans).toMatch(/Refusals\s+401\s/)
    expect(html).toContain('<li><b>401</b> No credential, or one that is not valid.</li>')
    expect(bans).toMatch(/limit \(query\) integer 1 to 100 default 50/)
    expect(articleOf(html, 'post-servers-serverid-commands')).toMatch(/Reply 201\s+.*command_id string \(uuid\)/s)
    expect(articleOf(html, 'post-auth-login')).toMatch(/either.*access_token string.*or.*mfa_required true/s)
    expect(articleOf(html, 'get-whitelist-txt')).toMatch(/Reply 200 as text\/plain\s+.*string/s)
  })

  test('gives a line for a shell that works as it stands', () => {
    const post = articleOf(html, 'post-servers-serverid-commands')
    expect(post).toContain(
      "curl -X POST 'https://stockade.example/api/v1/servers/01939d2c-6f00-7000-8000-000000000001/commands'",
    )
    expect(post).toContain('-H "Authorization: Bearer $TOKEN"')
    expect(post).toContain(`-d '{"type":"ban-ip","ports":[7000,7001],"note":"it'\\''s"}'`)
    expect(articleOf(html, 'get-bans')).toContain(
      "curl 'https://stockade.example/api/v1/bans?from=2026-11-20T09%3A30%3A00.000Z'",
    )
    expect(articleOf(html, 'post-auth-login')).not.toContain('Authorization')
  })

  test('has no inline script or style, and needs no other host', () => {
    expect(html).not.toMatch(/<script(?! src="docs\.js" defer><\/script>)|<style|\sstyle=|\son\w+=/i)
    expect(
      [...html.matchAll(/\s(?:src|href)="([^"]*)"/g)].map(match => match[1]).filter(to => to?.[0] !== '#'),
    ).toEqual(['docs.css', 'docs.js', '../', 'openapi.json'])
    expect(css).not.toMatch(/url\(|@import/)
    expect(js).not.toMatch(/https?:|fetch|innerHTML/)
    expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">')
  })

  test('stays below 1.12 MB with the whole contract', () => {
    const whole = renderDocs(openApiOf(endpoints, '1.2.3', 'https://stockade.example'))
    expect(Buffer.byteLength(Object.values(whole).join(''))).toBeLessThan(1_120_000)
    for (const name of endpointNames.values()) expect(whole.html).toContain(`<dd>${name}</dd>`)
  })

  test('closes every element that it opens', () => {
    const open: string[] = []
    for (const [, closing, name = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:\s[^<>]*)?>/g)) {
      if (['meta', 'link', 'br', 'wbr', 'input'].includes(name)) continue
      if (closing) expect(open.pop()).toBe(name)
      else open.push(name)
    }
    expect(open).toEqual([])
  })
})

describe('hostile text', () => {
  const evil = {
    info: { title: hostile, version: hostile, description: hostile },
    servers: [{ url: `javascript:alert(1)//${hostile}` }],
    tags: [{ name: hostile, description: hostile }],
    paths: {
      [`/x"onmouseover="alert(1)/{${hostile}}`]: {
        post: {
          tags: [hostile],
          summary: hostile,
          description: hostile,
          'x-access': hostile,
          'x-licence': hostile,
          'x-rate': hostile,
          parameters: [
            {
              name: hostile,
              in: hostile,
              description: hostile,
              schema: { type: hostile, pattern: hostile, enum: [hostile], default: hostile },
            },
          ],
          requestBody: {
            content: {
              'application/json': {
                schema: { type: 'object', properties: { [hostile]: { const: hostile, description: hostile } } },
              },
            },
          },
          responses: {
            [`200 ${hostile}`]: { content: { [hostile]: { schema: { type: 'string', format: hostile } } } },
            [`400 ${hostile}`]: { description: hostile },
          },
        },
        [hostile]: {},
      },
    },
  }

  test('stays text wherever it stands', () => {
    const { html } = renderDocs(evil)
    expect([...html.matchAll(/<script/g)]).toHaveLength(1)
    expect(html).toContain('&lt;script&gt;alert(1)&lt;')
    for (const [tag] of html.matchAll(/<[^>]*>/g))
      expect(tag).toMatch(/^<(?:!doctype html|\/?[a-z][a-z0-9]*(?: [a-z-]+(?:="[^"<>']*")?)*)>$/)
    expect(html.replace(/<[^>]*>/g, '')).not.toMatch(/[<>"]/)
    expect(html).not.toMatch(/<[^>]*\son\w+=/)
  })

  test('cannot leave the quotes of the shell', () => {
    const { html } = renderDocs(evil)
    const [, shell = ''] = /<pre[^>]*><code>([^]*?)<\/code>/.exec(html) ?? []
    const line = shell
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&')
    // Outside of quotes nothing is left but the command and its options.
    const bare = line.replace(/'[^']*'|\\'|"[^"]*"/g, '').replace(/\s+/g, ' ')
    expect(bare.trim()).toBe('curl -X POST \\ -H \\ -H \\ -d')
  })

  test.each([
    ['nothing', {}],
    ['wrong types', { info: 7, tags: 'x', servers: {}, paths: { '/a': { get: null, post: 'x', put: { tags: 3 } } } }],
    [
      'a schema that refers to itself',
      {
        paths: {
          '/a': {
            get: { responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/a' } } } } } },
          },
        },
        components: { a: { type: 'object', properties: { again: { $ref: '#/components/a' } } } },
      },
    ],
    [
      'a reference that goes in a circle',
      {
        paths: { '/a': { post: { requestBody: { content: { x: { schema: { $ref: '#/b' } } } } } } },
        b: { $ref: '#/c' },
        c: { $ref: '#/b' },
      },
    ],
  ])('%s still makes a page', (_, odd) => {
    expect(renderDocs(odd).html).toMatch(/<main id="content">[^]*<\/main>/)
  })
})
