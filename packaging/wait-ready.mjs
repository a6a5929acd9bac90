import http from 'node:http'
import https from 'node:https'

/*
 * Waits until the server of this host answers that it is ready, for a quarter of an hour at most, because an upgrade may take long: `systemctl
 * start` returns after it. With `--once` it asks once, as the health check of a container does.
 */
const host = process.env.STOCKADE_HOST || '127.0.0.1'
const port = process.env.STOCKADE_PORT || '8420'
const local = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host)
// The server answers below the path of its public address.
const base = URL.parse(process.env.STOCKADE_BASE_URL ?? '')?.pathname.replace(/\/+$/, '') ?? ''
const isSecure = Boolean(process.env.STOCKADE_TLS_CERT) || ['self', 'acme'].includes(process.env.STOCKADE_TLS ?? '')
const url = `${isSecure ? 'https' : 'http'}://${local}:${port}${base}/api/v1/ready`

/** The certificate names the public address, not this one; nothing secret is sent. */
const isReady = () =>
  new Promise(resolve => {
    // A setting that is wrong: the server says so and stops.
    if (!URL.canParse(url)) return resolve(false)
    const asked = (isSecure ? https : http).get(url, { rejectUnauthorized: false, timeout: 5000 }, reply => {
      reply.resume()
      resolve(reply.statusCode === 200)
    })
    asked.on('timeout', () => asked.destroy())
    asked.on('error', () => resolve(false))
  })

/** Whether the server still runs, as far as systemd says which process that is. */
const isRunning = () => {
  try {
    return !process.env.MAINPID || process.kill(Number(process.env.MAINPID), 0)
  } catch {
    return false
  }
}

const patience = 900
const isOnce = process.argv.includes('--once')
const latest = Date.now() + patience * 1000
for (;;) {
  if (await isReady()) break
  if (isOnce) process.exit(1)
  if (!isRunning()) {
    process.stderr.write('stockade: the server has stopped; its log says why\n')
    process.exit(1)
  }
  if (Date.now() > latest) {
    process.stderr.write(`stockade: the server is not ready after ${patience} s: ${url}\n`)
    process.exit(1)
  }
  await new Promise(resolve => setTimeout(resolve, 200))
}
