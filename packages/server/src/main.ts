import { codeOf } from '@stockade/contract/error-code.ts'
import { readConfig } from './config.ts'
import { ConfigError } from './config-reader.ts'
import type { Config } from './config.ts'
import { createApp } from './app/app.ts'
import type { App } from './app/app.ts'
import { second } from './core/clock.ts'
import { giveMemoryBack } from './core/memory.ts'
import { outliveReaders } from './core/output.ts'
import { ownAddresses } from './core/own-addresses.ts'
import { Problem } from './core/problem.ts'
import { lockFolder } from './db/folder-lock.ts'
import { localUrl, urlsForOthers } from './features/settings/base-url.ts'

/** Waits for so long, or until `cut` is called. */
const createWait = (seconds: number): { readonly over: Promise<void>; readonly cut: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, seconds * second)
  return {
    over: promise,
    cut() {
      clearTimeout(timer)
      resolve()
    },
  }
}

/**
 * Stops gracefully on SIGTERM and SIGINT: first it drains for as long as the configuration says, then it closes. A second signal
 * ends the draining, the next one the process.
 */
const stopOnSignals = (app: App, { drainSeconds }: Config): void => {
  let draining: ReturnType<typeof createWait> | null = null
  let isClosing = false
  const close = () => {
    isClosing = true
    const late = setTimeout(() => process.exit(1), 25_000)
    app.close().then(
      () => {
        clearTimeout(late)
        process.exitCode = 0
      },
      (error: unknown) => {
        app.log.error({ err: error }, 'stopping failed')
        process.exit(1)
      },
    )
  }
  const stop = (signal: string) => {
    if (isClosing) process.exit(1)
    if (draining) return draining.cut()
    app.log.info({ signal, drainSeconds }, 'stopping')
    if (drainSeconds === 0) return close()
    draining = createWait(drainSeconds)
    app.drain()
    draining.over.then(close, close)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

/** What the terminal shows once the server is ready: the address, or the link of the set-up. */
const greeting = (config: Config, { baseUrl, setupCode }: Pick<App, 'baseUrl' | 'setupCode'>): string => {
  const where = baseUrl()
  if (!setupCode) return `\n  Stockade is ready: ${where}\n\n`
  const linkAt = (url: string) => `  ${url}/setup?code=${setupCode}\n`
  const others = where === localUrl(config) ? urlsForOthers(config, ownAddresses()) : []
  return [
    `\n  Stockade is ready. Make the first administrator (this link works once):\n\n${linkAt(where)}`,
    others.length > 0 ? `\n  From another machine:\n\n${others.map(linkAt).join('')}` : '',
    '\n',
  ].join('')
}

/** Reads the configuration and starts. */
const start = async (): Promise<void> => {
  // Nobody else on the host has business with the database or the key.
  process.umask(0o077)
  const config = readConfig(process.env)
  if (config.databaseUrl === null) lockFolder(config.dataDir)
  const app = await createApp(config)
  stopOnSignals(app, config)
  const address = await app.listen()
  app.log.info({ address, database: config.databaseUrl ? 'postgres' : 'sqlite' }, 'listening')
  process.stdout.write(greeting(config, app))
  giveMemoryBack()
}

outliveReaders()
try {
  await start()
} catch (error) {
  const code = codeOf(error)
  if (error instanceof ConfigError) process.stderr.write(`Stockade can't start: ${error.message}\n`)
  else if (error instanceof Problem) process.stderr.write(`Stockade can't start: ${error.message}\n`)
  else if (code === 'EADDRINUSE')
    process.stderr.write(`Stockade can't start: the port is taken. Choose another with STOCKADE_PORT.\n`)
  else
    process.stderr.write(
      `Stockade can't start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    )
  process.exit(1)
}
