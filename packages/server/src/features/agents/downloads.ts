import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { notFound } from '../../core/problem.ts'

const agent = fileURLToPath(new URL('../../../../agent/', import.meta.url))
const runtimes = fileURLToPath(new URL('../../../dist/runtime/', import.meta.url))

/** What hosts download: the installer, the agent as one file, and a Node runtime for hosts that have none. */
export const mountDownloads = (fastify: FastifyInstance, baseUrl: () => string, onScript: () => void): void => {
  const text = (reply: FastifyReply, body: string, type = 'text/plain; charset=utf-8') =>
    reply.header('cache-control', 'no-cache').header('x-content-type-options', 'nosniff').type(type).send(body)
  const missing = (name: string) => notFound(`${name} was not built here. Run: npm run build`)

  fastify.get('/install.sh', async (_, reply) => {
    const file = `${agent}install.sh`
    if (!existsSync(file)) throw missing('The installer')
    onScript()
    // The address comes from the configuration and never from the request; what a shell could read in it is not in it.
    const url = baseUrl()
    if (!/^https?:\/\/[A-Za-z0-9._~:[\]/-]+$/.test(url))
      throw notFound('The base URL holds characters that do not go into a script.')
    return text(reply, readFileSync(file, 'utf8').replaceAll('@@BASE_URL@@', url), 'text/x-shellscript; charset=utf-8')
  })
  fastify.get('/agent/stockade-agent.mjs', async (_, reply) => {
    const file = `${agent}dist/stockade-agent.mjs`
    if (!existsSync(file)) throw missing('The agent')
    return text(reply, readFileSync(file, 'utf8'), 'text/javascript; charset=utf-8')
  })
  fastify.get('/agent/stockade-agent.mjs.sha256', async (_, reply) => {
    const file = `${agent}dist/stockade-agent.mjs`
    if (!existsSync(file)) throw missing('The agent')
    return text(reply, `${createHash('sha256').update(readFileSync(file)).digest('hex')}  stockade-agent.mjs\n`)
  })
  for (const name of ['MANIFEST', 'MANIFEST.sig']) {
    const file = `${agent}dist/${name}`
    fastify.get(`/agent/${name}`, async (_, reply) => {
      if (!existsSync(file)) throw notFound(`This server has no signed release: ${name} is missing.`)
      return reply.header('cache-control', 'no-cache').type('application/octet-stream').send(readFileSync(file))
    })
  }
  for (const name of ['node-linux-x64.gz', 'node-linux-arm64.gz']) {
    const file = `${runtimes}${name}`
    fastify.get(`/agent/${name}`, async (_, reply) => {
      if (!existsSync(file)) throw missing(name)
      return reply.header('cache-control', 'no-cache').type('application/gzip').send(createReadStream(file))
    })
    fastify.get(`/agent/${name}.sha256`, async (_, reply) => {
      if (!existsSync(`${file}.sha256`)) throw missing(name)
      return text(reply, readFileSync(`${file}.sha256`, 'utf8'))
    })
  }
}
