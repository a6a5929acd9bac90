import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import type { HtmlTagDescriptor, Plugin } from 'vite'
import { drawWorld } from './world/world.ts'

type Scheme = 'light' | 'dark'
type Tokens = Record<Scheme, Record<string, string>> & Record<'series' | 'map', Record<Scheme, readonly string[]>>

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')

/** `tokens.json` as custom properties: `--surface`, `--series-1`, `--map-5`; one block a scheme. */
const tokensCss = (): string => {
  const tokens = JSON.parse(read('tokens.json')) as Tokens
  const block = (scheme: Scheme) =>
    [
      `--scheme:${scheme}`,
      ...Object.entries(tokens[scheme]).map(([name, value]) => `--${name}:${value}`),
      ...(['series', 'map'] as const).flatMap(kind =>
        tokens[kind][scheme].map((value, index) => `--${kind}-${index + 1}:${value}`),
      ),
    ].join(';')
  return `:root{${block('light')}}:root[data-mantine-color-scheme=dark]{${block('dark')}}`
}
const squeeze = (css: string) => css.replace(/\s*([{}:;,])\s*/g, '$1').replace(/\s+/g, ' ')

/**
 * What the page needs before the app is there: tokens and skeleton as one small style sheet, the colour scheme as one
 * small script. The app itself is imported by the entry, so that its styles don't hold the first paint; it is told of
 * in the head, so that it still loads at once.
 */
const firstPaint = (): Plugin => {
  const css = () => tokensCss() + squeeze(read('first-paint/skeleton.css'))
  const boot = () => read('first-paint/boot.js')
  const named = (source: string, name: string, ending: string) =>
    `assets/${name}-${createHash('sha256').update(source).digest('base64url').slice(0, 8)}.${ending}`
  let serving = false
  return {
    name: 'first-paint',
    configResolved(config) {
      serving = config.command === 'serve'
    },
    generateBundle() {
      for (const [source, name, ending] of [
        [css(), 'first', 'css'],
        [boot(), 'boot', 'js'],
      ] as const)
        this.emitFile({ type: 'asset', fileName: named(source, name, ending), source })
    },
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle }) {
        if (serving)
          return {
            html: html.replace('__BASE_HREF__', '/').replace('__CSP_NONCE__', ''),
            tags: [
              { tag: 'style', children: css(), injectTo: 'head-prepend' },
              { tag: 'script', children: boot(), injectTo: 'head-prepend' },
            ],
          }
        const chunks = Object.values(bundle ?? {}).filter(file => file.type === 'chunk')
        const app = chunks.find(chunk => chunk.name === 'app')
        const needed = [...new Set(app ? [app.fileName, ...app.imports] : [])]
        const styles = chunks
          .filter(chunk => needed.includes(chunk.fileName))
          .flatMap(chunk => [...(chunk.viteMetadata?.importedCss ?? [])])
        const tags: HtmlTagDescriptor[] = [
          { tag: 'script', attrs: { src: `./${named(boot(), 'boot', 'js')}` }, injectTo: 'head' },
          { tag: 'link', attrs: { rel: 'stylesheet', href: `./${named(css(), 'first', 'css')}` }, injectTo: 'head' },
          ...needed.map(file => ({
            tag: 'link',
            attrs: { rel: 'modulepreload', crossorigin: true, href: `./${file}` },
            injectTo: 'head' as const,
          })),
          ...styles.map(file => ({
            tag: 'link',
            attrs: { rel: 'preload', as: 'style', crossorigin: true, href: `./${file}` },
            injectTo: 'head' as const,
          })),
        ]
        return { html, tags }
      },
    },
  }
}

/** The outlines for the map, drawn once: neither the atlas nor a projection has to be loaded. */
const worldMap = (): Plugin => ({
  name: 'world-map',
  load: id =>
    id === fileURLToPath(new URL('world/outlines.ts', import.meta.url))
      ? `export const outlines = ${JSON.stringify(drawWorld())}`
      : undefined,
})

/** The flags of the package `country-flag-icons` (MIT) as one file of symbols: `flags.svg#UA`. One request instead of one a row. */
const flagSprite = (): Plugin => {
  const folder = new URL('../../node_modules/country-flag-icons/3x2/', import.meta.url)
  const symbols = () =>
    readdirSync(folder)
      .filter(name => /^[A-Z]{2}\.svg$/.test(name))
      .map(name => {
        const svg = readFileSync(new URL(name, folder), 'utf8')
        const [, box = '', body = ''] = /viewBox="([^"]+)"[^>]*>(.*)<\/svg>/s.exec(svg) ?? []
        return `<symbol id="${name.slice(0, 2)}" viewBox="${box}" preserveAspectRatio="xMidYMid slice">${body.trim()}</symbol>`
      })
      .join('')
  const source = () => `<svg xmlns="http://www.w3.org/2000/svg">${symbols()}</svg>`
  const module = '\0flags'
  let reference = ''
  let serving = false
  return {
    name: 'flag-sprite',
    configResolved(config) {
      serving = config.command === 'serve'
    },
    buildStart() {
      if (!serving) reference = this.emitFile({ type: 'asset', name: 'flags.svg', source: source() })
    },
    configureServer(server) {
      server.middlewares.use('/flags.svg', (_request, response) => {
        response.setHeader('content-type', 'image/svg+xml').end(source())
      })
    },
    resolveId: id => (id === 'virtual:flags' ? module : undefined),
    load(id) {
      if (id !== module) return undefined
      return serving ? `export default '/flags.svg'` : `export default import.meta.ROLLUP_FILE_URL_${reference}`
    },
  }
}

const { version } = JSON.parse(read('../server/package.json')) as { version: string }

export default defineConfig({
  root: new URL('.', import.meta.url).pathname,
  base: './',
  define: { __VERSION__: JSON.stringify(version) },
  plugins: [react(), firstPaint(), worldMap(), flagSprite()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // Which chunk needs which: the test of the budgets reads it.
    manifest: true,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What pages use travels together: a page should not take twenty requests. What only signed-in users see comes after the sign-in.
          groups: [
            {
              name: 'shared',
              priority: 2,
              test: /src\/(?:api\/(?!live|patch|tabs|lease|read-again|sign-out)|lib\/(?!drafts)|kit\/(?:announce|copy|demo-tag|field|now|page|parts|trouble|width)[.-]|features\/identity\/queries\.)|node_modules\/@(?:tanstack\/(?:query-core|react-query|react-router)|mantine\/core\/esm\/core)\//,
            },
            {
              name: 'shared-pages',
              priority: 1,
              test: /src\/(?:api|kit)\/(?!search|charts|styles|theme|modal|views|path-link|list-keys)/,
            },
            // A file of its own for each icon of two pages would be twenty requests.
            { name: 'icons', test: /@tabler\/icons-react\//, minShareCount: 2 },
            // What many pages share: small modules, of which each would be a request.
            {
              name: 'shared-features',
              test: /src\/features\/(?!navigation|identity|sign-in|.*filter\.)/,
              minShareCount: 14,
            },
            // What dialogs share with their page: without a chunk of its own they would bring the whole page.
            { name: 'servers-parts', test: /features\/servers\/servers\.texts/ },
            { name: 'bans-parts', test: /features\/bans\/(?:bans\.texts|bulk-rows|save-as|selection)/ },
          ],
        },
      },
    },
  },
  // During development the API is a server on its usual port.
  server: { proxy: { '/api': { target: 'http://localhost:8420', ws: true } } },
})
