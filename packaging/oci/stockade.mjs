#!/opt/stockade/bin/node
import { pathToFileURL } from 'node:url'

/* What `bin/stockade` of a release does, for the image, which has no shell. Settings come from the container's environment. */
const root = '/opt/stockade/lib'
const words = process.argv.slice(2)
const programOf = () => {
  if (words.join(' ') === 'serve') return ['server/dist/bundle/server/src/main.js']
  if (words.join(' ') === 'healthy') return ['wait-ready.mjs', '--once']
  return ['server/dist/bundle/server/src/admin/main.js', ...words]
}
const [program, ...rest] = programOf()
const file = `${root}/${program}`
process.argv = [process.execPath, file, ...rest]
await import(pathToFileURL(file).href)
