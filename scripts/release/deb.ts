import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { debianNames, epoch, read, version } from './places.ts'
import type { Architecture } from './places.ts'

/* The Debian package of a release: its tree in /usr/lib/stockade, a unit for systemd, settings in /etc and data in /var/lib. */

const control = (architecture: Architecture, kilobytes: number) => `Package: stockade
Version: ${version}-1
Architecture: ${debianNames[architecture]}
Maintainer: The Stockade project <stockade@stockade.example>
Installed-Size: ${kilobytes}
Section: admin
Priority: optional
Depends: libc6 (>= 2.28), libstdc++6, libgcc-s1, init-system-helpers (>= 1.51), passwd, util-linux, ca-certificates
Suggests: postgresql
Description: central management for fleets of hosts that run fail2ban
 Agents on the hosts register, report every ban, fetch commands and report
 results. Operators see and make bans, keep one whitelist on every server,
 deploy jail templates and get notified, in a web dashboard, by an HTTP API
 and on the command line.
`
const copyright = () => `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: stockade

Files: *
Copyright: The Stockade project
License: Apache-2.0
 On Debian systems the full text is in /usr/share/common-licenses/Apache-2.0.
 Works of others in this package and their licences are listed in
 /usr/lib/stockade/THIRD-PARTY.txt.
`
const scripts = ['preinst', 'postinst', 'prerm', 'postrm']

/** Packs a tree, which is gone then. `compression`: what dpkg-deb calls it; Debian 11 reads xz and gzip. */
export const makeDeb = (asked: {
  readonly tree: string
  readonly output: string
  readonly architecture: Architecture
  readonly compression: string
}): void => {
  const { tree, output, architecture, compression } = asked
  const stage = `${tree}.deb`
  const at = (path: string) => join(stage, path)
  const put = (path: string, text: string | Buffer, mode = 0o644) => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), text, { mode })
    chmodSync(at(path), mode)
  }
  rmSync(stage, { recursive: true, force: true })
  mkdirSync(at('usr/lib'), { recursive: true })
  renameSync(tree, at('usr/lib/stockade'))
  // Where Debian looks for them.
  for (const [from, to] of [
    ['share/systemd/stockade.service', 'usr/lib/systemd/system/stockade.service'],
    ['share/stockade.env', 'etc/stockade/stockade.env'],
    ['share/doc', 'usr/share/doc/stockade'],
    ['share/man', 'usr/share/man'],
    ['share/bash-completion', 'usr/share/bash-completion'],
    ['share/zsh', 'usr/share/zsh'],
    ['share/fish', 'usr/share/fish'],
  ] as const) {
    mkdirSync(dirname(at(to)), { recursive: true })
    renameSync(at(`usr/lib/stockade/${from}`), at(to))
  }
  rmSync(at('usr/lib/stockade/share'), { recursive: true })
  mkdirSync(at('usr/bin'), { recursive: true })
  symlinkSync('../lib/stockade/bin/stockade', at('usr/bin/stockade'))
  put('usr/share/doc/stockade/copyright', copyright())
  put('usr/share/doc/stockade/changelog.gz', gzipSync(readFileSync(at('usr/share/doc/stockade/CHANGELOG.md'))))
  rmSync(at('usr/share/doc/stockade/CHANGELOG.md'))
  const page = 'usr/share/man/man1/stockade.1'
  put(`${page}.gz`, gzipSync(readFileSync(at(page))))
  rmSync(at(page))
  const kilobytes = Number(execFileSync('du', ['-sk', '--apparent-size', stage], { encoding: 'utf8' }).split('\t')[0])
  put('DEBIAN/control', control(architecture, kilobytes))
  put('DEBIAN/conffiles', '/etc/stockade/stockade.env\n')
  for (const name of scripts) put(`DEBIAN/${name}`, read(`packaging/debian/${name}`), 0o755)
  execFileSync('find', [stage, '-exec', 'touch', '-h', '-d', `@${epoch}`, '{}', '+'])
  execFileSync('dpkg-deb', ['--root-owner-group', `-Z${compression}`, '--build', stage, output], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  rmSync(stage, { recursive: true })
}
