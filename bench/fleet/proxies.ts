import { freePort, hasProxy, startProxy } from '@stockade/server/testing'
import { cpuOf, fileLimit } from '../processes.ts'

/** Connections that a host may have at once: that of its poll, and one for what a change asks of it. */
const connectionsOfHost = 2
/** Connections of HAProxy from one address to one server: there are 28,000 ports for them. */
const connectionsOfSource = 20_000
/** Files that HAProxy needs besides those of connections. */
const filesForOthers = 500

export interface Proxies {
  readonly urls: readonly string[]
  cpu(): number
  close(): Promise<void>
}

/** As docs/guides/high-availability.md has it, with addresses of their own for connections to the servers. */
const configOf = (port: number, servers: readonly number[], proxy: number, connections: number): string => {
  const sources = Array.from({ length: Math.ceil(connections / connectionsOfSource) }, (_, source) => source)
  const lines = servers.flatMap((to, server) =>
    sources.map(source => `  server s${server}-${source} 127.0.0.1:${to} source 127.0.${proxy + 1}.${source + 1}`),
  )
  return `defaults
  mode http
  timeout connect 5s
  timeout client 90s
  timeout server 90s
  timeout check 10s
  option http-keep-alive
  option redispatch
  option abortonclose
  option forwardfor
frontend all
  bind 127.0.0.1:${port}
  default_backend servers
backend servers
  balance leastconn
  option httpchk GET /api/v1/ready
  http-check expect status 200
  default-server check inter 2s fall 2 rise 1
${lines.join('\n')}
`
}

/**
 * HAProxy before the servers: as many processes as the limit of files asks for. A connection of a host is two files of HAProxy, so with
 * 20,000 files one process has room for 4,875 hosts.
 */
export const startProxies = async (folder: string, servers: readonly number[], hosts: number): Promise<Proxies> => {
  if (!hasProxy()) throw new Error('Several servers need HAProxy.')
  const files = fileLimit() - filesForOthers
  const count = Math.ceil((hosts * connectionsOfHost * 2) / files)
  const connections = Math.ceil(hosts / count) * connectionsOfHost
  const proxies: { readonly port: number; readonly pid: number; close(): Promise<void> }[] = []
  for (let index = 0; index < count; index++) {
    const port = await freePort()
    const config = configOf(port, servers, index, connections)
    // Administrators connect too.
    proxies.push({ port, ...(await startProxy(folder, port, servers, config, connections + 200)) })
  }
  return {
    urls: proxies.map(({ port }) => `http://127.0.0.1:${port}`),
    cpu: () => proxies.reduce((sum, { pid }) => sum + cpuOf(pid), 0),
    async close() {
      for (const proxy of proxies) await proxy.close()
    },
  }
}
