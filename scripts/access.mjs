import { readFileSync, writeFileSync } from 'node:fs'
import { accessTable } from '../packages/server/test/access-table.ts'

/* `npm run make -- access`: how many endpoints each credential reaches, printed and written into SECURITY.md. `packages/server/test/guard.test.ts` asks them. */

const file = new URL('../SECURITY.md', import.meta.url)
const [begin, end] = ['<!-- access -->\n', '\n<!-- /access -->']
const text = readFileSync(file, 'utf8')
const [before, rest = ''] = text.split(begin)
const after = rest.slice(rest.indexOf(end))
writeFileSync(file, `${before}${begin}\n${accessTable()}\n${after}`)
process.stdout.write(`${accessTable()}\n`)
