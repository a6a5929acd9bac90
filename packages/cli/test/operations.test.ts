import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { endpoints } from '@stockade/contract'
import { program } from '../src/program.ts'

/* Everything that the API can do can be done from the command line, or the guide says why not. */

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const guides = at('../../../docs/guides/')
const guide = readFileSync(`${guides}cli.md`, 'utf8')
const operations = endpoints.map(({ method, path }) => `${method} ${path}`)
const called = new Set(
  readdirSync(at('../src')).flatMap(file =>
    [...readFileSync(at(`../src/${file}`), 'utf8').matchAll(/'((?:GET|POST|PUT|PATCH|DELETE) \/[^']*)'/g)].map(
      ([, name = '']) => name,
    ),
  ),
)
const [, section = ''] = /\n## Operations without a command\n([^]*?)\n## /.exec(guide) ?? []
const explained = new Map(
  [...section.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].flatMap(([, names = '', reason = '']) =>
    [...names.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) [^`]+)`/g)].map(
      ([, name = '']) => [name, reason.trim()] as const,
    ),
  ),
)

test('every operation of the API has a command, or a reason in the guide', () => {
  expect(operations.filter(name => !called.has(name) && !explained.has(name))).toEqual([])
  for (const [name, reason] of explained) expect(reason.length, name).toBeGreaterThan(20)
})
test('the guide explains nothing that has a command or is gone', () => {
  expect([...explained.keys()].filter(name => called.has(name) || !operations.includes(name))).toEqual([])
  expect([...called].filter(name => !operations.includes(name))).toEqual([])
})

const pathOf = (command: Command): string =>
  command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
const isHidden = (command: Command) => Reflect.get(command, '_hidden') === true
const all = (command: Command): readonly Command[] =>
  command.commands.flatMap(each => (isHidden(each) ? [] : [each, ...all(each)]))

test('every command, argument group and option says what it is', () => {
  for (const command of all(program)) {
    expect(command.description(), pathOf(command)).not.toBe('')
    for (const option of command.options) expect(option.description, `${pathOf(command)} ${option.flags}`).not.toBe('')
  }
})
test('every command stands in a guide', () => {
  const texts = readdirSync(guides)
    .filter(name => name.endsWith('.md'))
    .flatMap(name => readFileSync(`${guides}${name}`, 'utf8').split('\n\n'))
    .map(paragraph => paragraph.replace(/\s+/g, ' '))
  // In a paragraph about a group its commands are shortened: `stockade users invite NAME`, `reset-mfa NAME`.
  const isNamed = (command: Command) => {
    const words = pathOf(command).split(' ')
    const [group = ''] = words
    const shortened = words.slice(1).map((_, at) => words.slice(at + 1).join(' '))
    return texts.some(
      text =>
        new RegExp(`(stockade |\`)${words.join(' \\[?')}\\b`).test(text) ||
        (text.includes(`stockade ${group}`) && shortened.some(name => new RegExp(`\`${name}[ \`]`).test(text))),
    )
  }
  expect(
    all(program)
      .filter(command => !isNamed(command))
      .map(pathOf),
  ).toEqual([])
})
