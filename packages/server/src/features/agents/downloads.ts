import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { places } from '../../core/places.ts'
import { notFound } from '../../core/problem.ts'
import { runtimeNames } from './runtimes.ts'
import type { Runtimes } from './runtimes.ts'

/** What hosts download: the installer, the agent as one file, and a Node runtime for hosts that have none. */
export const mountDownloads = (
  fastify: FastifyInstance,
  {
    baseUrl,
    agentDir,
    runtimes,
    onScript,
  }: { baseUrl: () => string; agentDir: string; runtimes: Runtimes; onScript: () => void },
): void => {
  const text = (reply: FastifyReply, body: string, type = 'text/plain; charset=utf-8') =>
    reply.header('cache-control', 'no-cache').header('x-content-type-options', 'nosniff').type(type).send(body)
  const missing = (name: string) => notFound(`${name} was not built here. Run: npm run build`)

  fastify.get('/install.sh', async (_, reply) => {
    const file = places.installer
    if (!existsSync(file)) throw missing('The installer')
    onScript()
    // The address comes from the configuration and never from the request; what a shell could read in it is not in it.
    const url = baseUrl()
    if (!/^https?:\/\/[A-Za-z0-9._~:[\]/-]+$/.test(url))
      throw notFound('The base URL holds characters that do not go into a script.')
    return text(reply, readFileSync(file, 'utf8').replaceAll('@@BASE_URL@@', url), 'text/x-shellscript; charset=utf-8')
  })
  fastify.get('/agent/stockade-agent.mjs', async (_, reply) => {
    const file = join(agentDir, 'stockade-agent.mjs')
    if (!existsSync(file)) throw missing('The agent')
    return text(reply, readFileSync(file, 'utf8'), 'text/javascript; charset=utf-8')
  })
  fastify.get('/agent/stockade-agent.mjs.sha256', async (_, reply) => {
    const file = join(agentDir, 'stockade-agent.mjs')
    if (!existsSync(file)) throw missing('The agent')
    return text(reply, `${createHash('sha256').update(readFileSync(file)).digest('hex')}  stockade-agent.mjs\n`)
  })
  for (const name of ['MANIFEST', 'MANIFEST.sig', 'release-keys.pem']) {
    const file = join(agentDir, name)
    fastify.get(`/agent/${name}`, async (_, reply) => {
      if (!existsSync(file)) throw notFound(`This server has no signed release: ${name} is missing.`)
      return reply.header('cache-control', 'no-cache').type('application/octet-stream').send(readFileSync(file))
    })
  }
  for (const name of runtimeNames) {
    const find = async () => {
      const runtime = await runtimes.find(name)
      if (!runtime) throw missing(name)
      return runtime
    }
    fastify.get(`/agent/${name}`, async (_, reply) => {
      const { file } = await find()
      return reply.header('cache-control', 'no-cache').type('application/gzip').send(createReadStream(file))
    })
    fastify.get(`/agent/${name}.sha256`, async (_, reply) => text(reply, `${(await find()).sha256}  ${name}\n`))
  }
}
