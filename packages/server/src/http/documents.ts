import type { Http } from './http.ts'
import { renderDocs } from './docs.ts'
import { openApiOf } from './openapi/document.ts'

/** Serves the OpenAPI document of all mounted endpoints, and a page that shows it. */
export const mountDocuments = ({ fastify, mounted }: Http, version: string, baseUrl: () => string): void => {
  let lastDocuments: { url: string; openApi: object; html: string; css: string; js: string } | null = null
  /** Made when first asked for, and again when the public address changes. */
  const documents = () => {
    const url = baseUrl()
    if (lastDocuments?.url !== url) {
      const openApi = openApiOf(mounted, version, url)
      lastDocuments = { url, openApi, ...renderDocs(openApi) }
    }
    return lastDocuments
  }
  fastify.get('/api/openapi.json', () => Promise.resolve(documents().openApi))
  fastify.get('/api/docs', (_, reply) => {
    void reply
      .header(
        'content-security-policy',
        "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      )
      .header('x-content-type-options', 'nosniff')
    return reply.type('text/html; charset=utf-8').send(documents().html)
  })
  fastify.get('/api/docs.css', (_, reply) => reply.type('text/css; charset=utf-8').send(documents().css))
  fastify.get('/api/docs.js', (_, reply) => reply.type('text/javascript; charset=utf-8').send(documents().js))
}
