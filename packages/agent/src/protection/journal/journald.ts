import * as fs from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { codeOf } from '@stockade/contract/error-code.ts'
import { readOr } from '@stockade/contract/untrusted.ts'

/** `unknown`: this journald (systemd before 246) or this host gives no way to ask. */
export type JournaldState = 'answers' | 'hung' | 'down' | 'unknown'

const deadline = 1000
const roots = ['/var/log/journal', '/run/log/journal']
const unitPlaces = ['/etc', '/run', '/usr/local/lib', '/usr/lib', '/lib'].map(place => `${place}/systemd/system`)
const generatedPlaces = ['generator.early', 'generator', 'generator.late', 'transient'].map(
  place => `/run/systemd/${place}`,
)

/**
 * Asks journald something over its varlink socket. It answers to a method that it does not have as well, and does nothing for it.
 * `systemctl` would need the message bus, and its processes are hidden from the agent.
 */
export const askJournald = (namespace: string | null): Promise<JournaldState> => {
  const place = namespace === null ? '/run/systemd/journal' : `/run/systemd/journal.${namespace}`
  const path = join(place, 'io.systemd.journal')
  if (!fs.existsSync(path)) return Promise.resolve('unknown')
  return new Promise(resolve => {
    const socket = connect({ path })
    const end = (state: JournaldState): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(state)
    }
    const timer = setTimeout(() => end('hung'), deadline)
    socket.on('connect', () => socket.write('{"method":"org.varlink.service.GetInfo"}\0'))
    socket.on('data', () => end('answers'))
    socket.on('close', () => end('hung'))
    socket.on('error', error => end(codeOf(error) === 'ECONNREFUSED' ? 'down' : 'unknown'))
  })
}

/** The journal's files on this host; null where there are none. Changes with each entry. */
export const journalMark = (namespace: string | null): string | null => {
  const isMeant = (directory: string): boolean => (/^[^.]+\.(.+)$/.exec(directory)?.[1] ?? null) === namespace
  const files = roots
    .flatMap(root =>
      namesIn(root)
        .filter(isMeant)
        .map(name => join(root, name)),
    )
    .flatMap(directory => namesIn(directory).map(name => join(directory, name)))
    .filter(file => file.endsWith('.journal'))
  if (files.length === 0) return null
  return files.map(file => `${file}:${fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0}`).join('\n')
}

/** Whether systemd has a file of this unit, also of its template and under another name of it. */
export const hasUnit = (unit: string): boolean => {
  const template = unit.replace(/@[^.]*\./, '@.')
  return [...unitPlaces, ...generatedPlaces].some(place =>
    [unit, template].some(name => fs.existsSync(join(place, name))),
  )
}

const namesIn = (directory: string): string[] => readOr([], () => fs.readdirSync(directory))
