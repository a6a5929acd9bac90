import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { manualPage } from '../../../scripts/release/man.ts'
import { program } from '../../server/src/admin/program.ts'
import { stockade } from './run.ts'

/* Commands over the API and commands on the server's own host are one program: help, errors, completion and manual page of all of them. */

const visible = (command: Command): readonly Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter(each => each.name() !== 'help')
const pathsBelow = (command: Command, words: readonly string[]): readonly (readonly string[])[] =>
  visible(command).flatMap(each => [[...words, each.name()], ...pathsBelow(each, [...words, each.name()])])
const paths = pathsBelow(program, [])
const nowhere = { STOCKADE_URL: 'http://127.0.0.1:1' }

test('every command has a help of its own, which names it', async () => {
  expect(paths.length).toBeGreaterThan(150)
  expect(paths.map(words => words.join(' '))).toEqual(
    expect.arrayContaining(['servers', 'license self', 'license issue', 'backup verify', 'admin recount', 'serve']),
  )
  for (const words of paths) {
    const { code, out, err } = await stockade(nowhere, [...words, '--help'])
    expect({ code, err }, words.join(' ')).toEqual({ code: 0, err: '' })
    expect(out).toMatch(new RegExp(`^Usage: stockade ${words.join(' ')}\\b`))
    expect(out, words.join(' ')).toContain('--json')
  }
})

test('every command refuses an option that it does not know, in one form', async () => {
  for (const words of paths) {
    const { code, out, err } = await stockade(nowhere, [...words, '--no-such-option'])
    expect({ code, out }, words.join(' ')).toEqual({ code: 2, out: '' })
    // What a command cannot do without is asked for first.
    expect(err, words.join(' ')).toMatch(/^(stockade: (unknown option '--no-such-option'|required option ')|Usage: )/)
  }
})

test('every command is completed, and stands in the manual page', async () => {
  const page = manualPage().replaceAll('\\-', '-')
  for (const words of paths) {
    const { out } = await stockade(nowhere, ['complete', '--', ...words])
    expect(out.split('\n').map(line => line.split('\t')[0])).toContain(words.at(-1))
    expect(page).toMatch(new RegExp(`^\\.SS ${words.join(' ')}\\b`, 'm'))
  }
})
