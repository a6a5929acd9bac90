#!/opt/stockade/bin/node
import { pathToFileURL } from 'node:url'

/* What `bin/stockade` of a release does, for the image, which has no shell. Settings come from the container's environment. */
const root = '/opt/stockade/lib'
const [command = '', ...rest] = process.argv.slice(2)
const onStorage = ['admin', 'audit', 'doctor', 'geoip', 'backup', 'restore']

const programOf = () => {
  if (command === 'serve') return ['server/dist/bundle/server/src/main.js', rest]
  if (command === 'healthy') return ['wait-ready.mjs', ['--once']]
  const words = process.argv.slice(2)
  const isOnStorage = onStorage.includes(command) || (command === 'license' && ['keygen', 'issue'].includes(rest[0]))
  return [`server/dist/bundle/${isOnStorage ? 'server/src/admin' : 'cli/src'}/main.js`, words]
}
const [program, words] = programOf()
const file = `${root}/${program}`
process.argv = [process.execPath, file, ...words]
await import(pathToFileURL(file).href)
