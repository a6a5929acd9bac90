import * as fs from 'node:fs'
import { readOr } from '@stockade/contract/untrusted.ts'

/* Globs of paths as fail2ban and a shell understand them. */

const sign = /[*?[]/

export const isGlob = (path: string): boolean => sign.test(path)

/** `*` and `?` as in a shell: neither takes a `/`. */
export const globPattern = (glob: string): RegExp => {
  const pattern = glob.replace(
    /\[(!?)([^\]/]*)\]|[^]/g,
    (text, not: string | undefined, members: string | undefined) => {
      if (members !== undefined) return `[${not === '!' ? '^/' : ''}${members.replace(/[\\^[\]]/g, '\\$&')}]`
      if (text === '*') return '[^/]*'
      return text === '?' ? '[^/]' : text.replace(/[\\^$.|+()[\]{}]/g, '\\$&')
    },
  )
  return new RegExp(`^${pattern}$`)
}

/** Existing paths that an absolute glob stands for, at most `most`; a name that begins with a dot only where the glob says so. */
export const filesOf = (glob: string, most: number): readonly string[] => {
  let paths = ['']
  for (const part of glob.split('/').slice(1)) {
    if (!isGlob(part)) {
      paths = paths.map(folder => `${folder}/${part}`)
      continue
    }
    const pattern = globPattern(part)
    const isMeant = (name: string) => pattern.test(name) && (part.startsWith('.') || !name.startsWith('.'))
    paths = paths
      .flatMap(folder =>
        readOr<string[], string[]>([], () => fs.readdirSync(folder || '/'))
          .filter(isMeant)
          .map(name => `${folder}/${name}`),
      )
      .slice(0, most)
  }
  return paths.filter(path => fs.existsSync(path))
}
