import { ConfigError, readConfig } from './config.ts'
import { createApp } from './app/app.ts'
import { Problem } from './core/problem.ts'
import { lockFolder } from './db/folder-lock.ts'

/** Reads the configuration, starts, and stops gracefully on SIGTERM and SIGINT; a second signal stops at once. */
const start = async (): Promise<void> => {
  // Nobody else on the host has business with the database or the key.
  process.umask(0o077)
  const config = readConfig(process.env)
  if (config.databaseUrl === null) lockFolder(config.dataDir)
  const app = await createApp(config)
  let stopping = false
  const stop = (signal: string) => {
    if (stopping) process.exit(1)
    stopping = true
    app.log.info({ signal }, 'stopping')
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
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  const address = await app.listen()
  app.log.info({ address, database: config.databaseUrl ? 'postgres' : 'sqlite' }, 'listening')
  const where = app.baseUrl()
  process.stdout.write(
    app.setupCode
      ? `\n  Stockade is ready. Make the first administrator (this link works once):\n\n  ${where}/setup?code=${app.setupCode}\n\n`
      : `\n  Stockade is ready: ${where}\n\n`,
  )
}

try {
  await start()
} catch (error) {
  const code = (error as NodeJS.ErrnoException).code
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
