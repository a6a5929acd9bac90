import { account, startDemo } from './demo.ts'

/* `npm run demo`: STOCKADE_HOST and STOCKADE_PORT say where, as for the server. */

const print = (text: string) => process.stdout.write(`${text}\n`)
const port = Number(process.env.STOCKADE_PORT ?? 8420)
print('Starting a demo: twelve simulated servers and a month of made-up history …')
const demo = await startDemo({ port, ...(process.env.STOCKADE_HOST ? { host: process.env.STOCKADE_HOST } : {}) })
print(`
The demo is ready: ${demo.url}
  sign in as   ${account.username}  (or anna: Admin, ben: Operator, chloe: Viewer)
  password     ${account.password}
  history      ${demo.bans.toLocaleString('en')} bans on ${demo.hosts.length} servers; new ones come in all the time
Nothing of it is real, and all of it is removed when you stop it with Ctrl-C.`)
let ending = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (ending) return
    ending = true
    void demo.close().then(() => process.exit(0))
  })
