import { expect, it } from 'vitest'
import { tokensOf } from './ini.ts'

const kinds = (line: string) => tokensOf(line).map(({ kind, text }) => `${kind} ${text}`)

it.each([
  ['[sshd]', ['section [sshd]']],
  ['maxretry = 5', ['key maxretry', 'text  =', 'value  5']],
  ['bantime.increment=true', ['key bantime.increment', 'text =', 'value true']],
  ['logpath = %(nginx_access_log)s', ['key logpath', 'text  =', 'text  ', 'variable %(nginx_access_log)s']],
  ['failregex = ^<HOST> .* 401$', ['key failregex', 'text  =', 'text  ^', 'variable <HOST>', 'text  .* 401$']],
  ['            ^other <F-USER>x', ['text             ^other ', 'variable <F-USER>', 'text x']],
  ['# maxretry = 5', ['comment # maxretry = 5']],
  ['  ; a note', ['comment   ; a note']],
  ['[sshd', ['text [sshd']],
  ['', []],
])('%s', (line, expected) => expect(kinds(line)).toEqual(expected))

it.each(['a = b = %(c)s<x', ' = ', '%()s <>', 'x=[y]', '\u202e[z]'])('loses nothing of %s', line =>
  expect(
    tokensOf(line)
      .map(({ text }) => text)
      .join(''),
  ).toBe(line),
)
