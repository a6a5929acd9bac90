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

/** The code of pages that people open by a link or with a new tab; `*` stands for the last part of a path. */
const openedPages: Readonly<Record<string, readonly string[]>> = {
  '/login': ['sign-in/sign-in'],
  '/': ['overview/overview', 'overview/filled'],
  '/bans': ['bans/bans'],
  '/servers': ['servers/servers'],
  '/ip/*': ['ip/ip'],
  '/whitelist': ['whitelist/whitelist'],
  '/commands': ['commands/commands'],
  '/templates': ['templates/templates'],
  '/audit': ['audit/audit'],
}

/** `ahead.json`: for each of these pages the links to its code, which the server writes into the head (http/dashboard.ts). */
const codeAhead = (): Plugin => ({
  name: 'code-ahead',
  generateBundle(_options, bundle) {
    const chunks = Object.values(bundle).filter(file => file.type === 'chunk')
    const withImports = (names: readonly string[], seen = new Set<string>()): Set<string> => {
      for (const chunk of chunks)
        if (names.includes(chunk.fileName) && !seen.has(chunk.fileName)) {
          seen.add(chunk.fileName)
          withImports(chunk.imports, seen)
        }
      return seen
    }
    const filesOf = (modules: readonly string[]) =>
      withImports(
        chunks
          .filter(({ facadeModuleId }) => modules.some(module => facadeModuleId?.endsWith(`/src/${module}.tsx`)))
          .map(({ fileName }) => fileName),
      )
    const head = filesOf(['app/app'])
    const linksOf = (modules: readonly string[]) => {
      const needed = [...filesOf(modules)].filter(file => !head.has(file))
      const styles = chunks
        .filter(({ fileName }) => needed.includes(fileName))
        .flatMap(chunk => [...(chunk.viteMetadata?.importedCss ?? [])])
      return [
        ...needed.map(file => `<link rel="modulepreload" crossorigin fetchpriority="low" href="./${file}">`),
        // A browser complains of a style sheet that is preloaded and not used, as after a session that has ended.
        ...new Set(styles.map(file => `<link rel="prefetch" as="style" crossorigin href="./${file}">`)),
      ].join('')
    }
    const links = Object.entries(openedPages).map(([path, modules]) => [
      path,
      linksOf([...(path === '/login' ? [] : ['app/shell/shell']), ...modules.map(module => `features/${module}`)]),
    ])
    this.emitFile({ type: 'asset', fileName: 'ahead.json', source: JSON.stringify(Object.fromEntries(links)) })
  },
})

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
  plugins: [react(), firstPaint(), codeAhead(), worldMap(), flagSprite()],
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
              test: /vite\/preload-helper|src\/(?:api\/(?!live|patch|tabs|lease|read-again|sign-out)|lib\/(?!drafts)|kit\/(?:announce|copy|demo-tag|field|now|page|parts|plain-form|text-field|trouble|width)[.-]|features\/(?:identity\/queries|[\w-]+\/filter)[.])|node_modules\/@(?:tanstack\/(?:query-core|react-query|react-router)|mantine\/core\/esm\/core)\//,
            },
            {
              name: 'shared-pages',
              priority: 1,
              test: /src\/(?:(?:api|kit)\/(?!search|charts|styles|theme|modal|form-dialog|views|path-link|list-keys)|app\/shell\/activity|features\/(?:navigation\/places|fleet\/protection)[.])/,
            },
            // A file of its own for each icon of two pages would be twenty requests.
            { name: 'icons', priority: 1, test: /@tabler\/icons-react\//, minShareCount: 2 },
            // What many pages share: small modules, of which each would be a request.
            {
              name: 'shared-features',
              priority: 1,
              test: /src\/features\/(?!navigation|identity|sign-in|.*filter\.)/,
              minShareCount: 14,
            },
            // What dialogs share with their page: without a chunk of its own they would bring the whole page.
            { name: 'servers-parts', test: /features\/servers\/servers\.texts/ },
            { name: 'value-menu', test: /kit\/search\/(?:value-menu|search[.])/ },
            // What lists with a search share.
            {
              name: 'search',
              test: /src\/kit\/(?:search\/|views|path-link|list-keys)|contract\/src\/query\//,
            },
            // What rows of attackers have, here and on the overview.
            { name: 'facts', test: /features\/bans\/reason|src\/kit\/charts\/spark/ },
            {
              name: 'bans-parts',
              test: /features\/bans\/(?:ban-cells|ban-state|bans-rows|bans[.]texts|bulk-rows|filter-chips|chips[.]|save-as|selection)/,
            },
          ],
        },
      },
    },
  },
  // During development the API is a server on its usual port.
  server: { proxy: { '/api': { target: 'http://localhost:8420', ws: true } } },
})
