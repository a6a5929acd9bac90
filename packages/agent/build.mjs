import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const here = new URL('./', import.meta.url)
/** Each program is one text; the modules that it uses stand before it. */
const programs = {
  reader: ['reader.py'],
  checker: ['stage.py', 'ambiguity.py', 'groups.py', 'checker.py'],
  lister: ['stage.py', 'lister.py'],
  action: ['stockade_action.py'],
  launcher: ['launcher.py'],
  probe: ['probe.py'],
  positions: ['positions.py'],
  journal: ['journal.py'],
  preview: ['preview.py'],
}

/**
 * Bundles the agent to dist/stockade-agent.mjs: one file for Node 18 or newer, no dependency, with its version and the
 * Python programs in it; and its checksum beside it. Returns the path.
 */
export async function buildAgent() {
  const { version } = JSON.parse(await readFile(new URL('package.json', here), 'utf8'))
  const outfile = fileURLToPath(new URL('dist/stockade-agent.mjs', here))
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('src/main.ts', here))],
    outfile,
    write: false,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node18',
    banner: { js: '#!/usr/bin/env node' },
    define: { STOCKADE_AGENT_VERSION: JSON.stringify(version), 'import.meta.main': 'true' },
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [{ name: 'python-programs', setup: embedPrograms }],
  })
  const code = outputFiles[0].contents
  const hash = createHash('sha256').update(code).digest('hex')
  await mkdir(new URL('dist/', here), { recursive: true })
  await replaceFile(outfile, code, 0o755)
  await replaceFile(`${outfile}.sha256`, `${hash}  stockade-agent.mjs\n`, 0o644)
  return outfile
}

/** A process that starts the agent meanwhile gets the old file or the new one: Node runs an empty file without an error. */
async function replaceFile(path, content, mode) {
  const fresh = `${path}.${process.pid}`
  await writeFile(fresh, content, { mode })
  await rename(fresh, path)
}

/** The programs are files beside the sources; in the bundle they are text. */
function embedPrograms(plugin) {
  plugin.onLoad({ filter: /python\/programs\.ts$/ }, async () => {
    const exports = Object.entries(programs).map(async ([name, files]) => {
      const texts = files.map(file => readFile(new URL(`src/python/${file}`, here), 'utf8'))
      return `export const ${name} = ${JSON.stringify((await Promise.all(texts)).join('\n'))}`
    })
    return { contents: (await Promise.all(exports)).join('\n'), loader: 'js' }
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${await buildAgent()}\n`)
