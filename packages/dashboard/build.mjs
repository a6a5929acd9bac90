import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'vite'

/** Bytes below which a compressed file saves nothing. */
const smallest = 1024

/** Writes FILE.gz and FILE.br beside what compresses, so that no request waits for it (http/dashboard.ts serves them). */
const compress = folder => {
  for (const name of readdirSync(folder)) {
    if (!/\.(js|css|svg|json)$/.test(name)) continue
    const content = readFileSync(`${folder}/${name}`)
    if (content.length < smallest) continue
    writeFileSync(`${folder}/${name}.gz`, gzipSync(content, { level: 9 }))
    writeFileSync(`${folder}/${name}.br`, brotliCompressSync(content))
  }
}

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
  compress(fileURLToPath(new URL('dist/assets', import.meta.url)))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildDashboard()
