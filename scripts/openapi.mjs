import { readFileSync, writeFileSync } from 'node:fs'
import { endpoints } from '../packages/contract/src/index.ts'
import { openApiOf } from '../packages/server/src/http/openapi/document.ts'

/* Writes the OpenAPI document to the file that is named, or else to standard output. */
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const text = `${JSON.stringify(openApiOf(endpoints, version, '/'), null, 2)}\n`
const [file] = process.argv.slice(2)
if (file) writeFileSync(file, text)
else process.stdout.write(text)
