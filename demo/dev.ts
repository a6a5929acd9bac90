import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'
import { account, startDemo } from './demo.ts'

/*
 * `npm run dev`: the server on the demo's data, from its sources, and the dashboard with hot reload. The server starts again when
 * one of its sources changes and keeps its data. STOCKADE_PORT is the server's port (8420), STOCKADE_DEV_PORT the dashboard's (5173).
 */

const print = (text: string) => process.stdout.write(`${text}\n`)
const port = Number(process.env.STOCKADE_PORT ?? 8420)
const dashboardPort = Number(process.env.STOCKADE_DEV_PORT ?? 5173)
print('Starting the server on the data of the demo …')
const demo = await startDemo({ port, isWatched: true })
const dashboard = await createServer({
  configFile: fileURLToPath(new URL('../packages/dashboard/vite.config.ts', import.meta.url)),
  logLevel: 'warn',
  server: {
    host: '127.0.0.1',
    port: dashboardPort,
    strictPort: true,
    proxy: { '/api': { target: demo.url, ws: true } },
  },
})
await dashboard.listen()
// Vite would end this process before the demo has removed its data.
process.removeAllListeners('SIGTERM')
process.stdin.removeAllListeners('end')
print(`
Dashboard, with hot reload:  http://127.0.0.1:${dashboardPort}
Server, restarts on change:  ${demo.url}
  sign in as   ${account.username}
  password     ${account.password}
A real agent beside a real fail2ban (needs root):  npm run dev -- host
Ctrl-C ends both and removes the data.`)
let isEnding = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (isEnding) return
    isEnding = true
    void Promise.all([dashboard.close(), demo.close()]).then(() => process.exit(0))
  })
