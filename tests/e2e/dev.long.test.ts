import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { account } from '../../demo/demo.ts'
import { freePort, within } from '../../packages/server/src/testing/index.ts'

/* `npm run dev`: the dashboard comes from its sources, and the server answers behind it. */
test('serves the dashboard from its sources beside a server from its own', async () => {
  const port = await freePort()
  const dashboardPort = await freePort()
  const child = spawn(process.execPath, [fileURLToPath(new URL('../../demo/dev.ts', import.meta.url))], {
    env: { ...process.env, NODE_ENV: '', STOCKADE_PORT: String(port), STOCKADE_DEV_PORT: String(dashboardPort) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  try {
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', data => (output += String(data)))
    await expect.poll(() => (child.exitCode === null ? output : `ended: ${output}`)).toContain('Ctrl-C ends both')
    const dashboard = `http://127.0.0.1:${dashboardPort}`
    expect(await (await fetch(`${dashboard}/bans`)).text()).toContain('/src/app/main.ts')
    expect((await fetch(`${dashboard}/src/app/main.ts`)).headers.get('content-type')).toContain('javascript')
    const signIn = await fetch(`${dashboard}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: account.username, password: account.password }),
    })
    expect(signIn.status).toBe(200)
    child.kill('SIGTERM')
    expect(await within(exited, 'the end of the server')).toEqual([0, null])
  } finally {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await within(exited, 'the end of the server')
  }
})
