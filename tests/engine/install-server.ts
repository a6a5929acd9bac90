import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buildAgent } from '../../packages/agent/build.mjs'
import type { Host } from './host.ts'
import type { Recorder } from './recorder.ts'

/** What it offers; a test changes it. */
export interface Offered {
  corrupt: boolean
  manifest: { text: string; signature: Buffer } | null
  /** Changes the program on its way, say to give it another version. */
  change: ((program: string) => string) | null
  /** The Node.js of this machine's architecture, gzipped. */
  node: Buffer | null
}

/** A server as a host sees it: the installer, the agent, and for everything else the API of a recorder, as on a real one under one address. */
export const anInstallServer = async (host: Host, server: Recorder) => {
  const bundle = await buildAgent()
  const script = fs.readFileSync(join(import.meta.dirname, '../../packages/agent/install.sh'), 'utf8')
  const offered: Offered = { corrupt: false, manifest: null, change: null, node: null }
  const asked: string[] = []
  let url = ''
  const program = (): Buffer => {
    const text = fs.readFileSync(bundle)
    return offered.change === null ? text : Buffer.from(offered.change(text.toString()))
  }
  const answers: Readonly<Record<string, () => string | Buffer | null>> = {
    '/install.sh': () => script.replaceAll('@@BASE_URL@@', url),
    '/agent/stockade-agent.mjs': program,
    '/agent/stockade-agent.mjs.sha256': () =>
      `${offered.corrupt ? '0'.repeat(64) : createHash('sha256').update(program()).digest('hex')}  stockade-agent.mjs\n`,
    [`/agent/node-linux-${process.arch}.gz`]: () => offered.node,
    [`/agent/node-linux-${process.arch}.gz.sha256`]: () =>
      offered.node === null ? null : `${createHash('sha256').update(offered.node).digest('hex')}  node\n`,
    '/agent/MANIFEST': () => offered.manifest?.text ?? null,
    '/agent/MANIFEST.sig': () => offered.manifest?.signature ?? null,
    '/agent/release-keys.pem': () => null,
  }
  const files = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const answer = answers[path]
    if (answer) {
      const content = answer()
      return void (content === null ? response.writeHead(404).end() : response.end(content))
    }
    const api = new URL(server.url(host))
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      void fetch(`http://127.0.0.1:${api.port}${path}`, {
        method: request.method ?? 'GET',
        headers: { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' },
        ...(request.method === 'GET' ? {} : { body: Buffer.concat(chunks) }),
      }).then(
        async reply => response.writeHead(reply.status, { 'content-type': 'application/json' }).end(await reply.text()),
        () => response.destroy(),
      )
    })
  })
  await new Promise<void>(resolve => files.listen(0, '0.0.0.0', resolve))
  url = `http://${host.gateway}:${(files.address() as AddressInfo).port}`
  return {
    url,
    offered,
    /** The paths that were asked for. */
    asked,
    /** The shell command that runs the installer on a host. */
    install: (options: string) => `curl -fsSL ${url}/install.sh | sh -s -- --no-packages --insecure-http ${options}`,
    close() {
      files.closeAllConnections()
      files.close()
    },
  }
}
