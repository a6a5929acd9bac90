import * as fs from 'node:fs'
import { join } from 'node:path'
import { canonicalIp } from '../ip.ts'
import { readText } from '../files.ts'

const sessionFolder = '/run/systemd/sessions'
const loginFile = '/run/utmp'
const recordBytes = 384
const hostOffset = 76
const hostBytes = 256
const userProcess = 7

/** The addresses from which somebody is logged in now: from logind, and on hosts without it from utmp. */
export const loginSources = (folder = sessionFolder, file = loginFile): string[] => {
  const hosts = [...fromLogind(folder), ...fromUtmp(file)]
  return [...new Set(hosts.map(canonicalIp).filter(ip => ip !== null))]
}

/** Each session is a file of lines such as `REMOTE_HOST=192.0.2.1`. */
const fromLogind = (folder: string): string[] => {
  try {
    return fs.readdirSync(folder).flatMap(name => {
      const text = readText(join(folder, name)) ?? ''
      const host = /^REMOTE_HOST=(.*)$/m.exec(text)?.[1]
      return host === undefined || /^STATE=closing$/m.test(text) ? [] : [host]
    })
  } catch {
    return []
  }
}

const fromUtmp = (file: string): string[] => {
  try {
    const bytes = fs.readFileSync(file)
    const hosts: string[] = []
    for (let at = 0; at + recordBytes <= bytes.length; at += recordBytes) {
      if (bytes.readInt16LE(at) !== userProcess) continue
      const host = bytes.toString('latin1', at + hostOffset, at + hostOffset + hostBytes)
      hosts.push(host.replace(/\0.*$/s, ''))
    }
    return hosts
  } catch {
    return []
  }
}
