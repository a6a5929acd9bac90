import { fileURLToPath } from 'node:url'
import { build } from 'vite'

/** Builds the dashboard into `dist`, as the server serves it. */
export async function buildDashboard() {
  // A test run has another one, with which React would be built for development.
  process.env.NODE_ENV = 'production'
  await build({
    configFile: fileURLToPath(new URL('vite.config.ts', import.meta.url)),
    logLevel: 'warn',
    // Whoever calls may be a test run; what is served is the same in every environment.
    mode: 'production',
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildDashboard()
