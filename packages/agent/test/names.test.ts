import { isJailName, isTemplateName } from '@stockade/contract/names.ts'
import { expect, it } from 'vitest'

it.each(['sshd', '0', 'nginx-http-auth', 'a.b_c-d', 'x'.repeat(64)])('%s is the name of a jail', name => {
  expect(isJailName(name)).toBe(true)
})

it.each([
  '',
  '-x',
  '.',
  '..',
  '.hidden',
  '_',
  'a b',
  'a/b',
  '../x',
  'a\n',
  'a\nb',
  'a;b',
  '$(x)',
  'a]',
  '[a',
  'a%',
  'é',
  'x'.repeat(65),
  7,
  null,
])('%j is not the name of a jail, nor of a template', name => {
  expect(isJailName(name)).toBe(false)
  expect(isTemplateName(name)).toBe(false)
})

it('the name of a template is that of a jail, shorter and in lower case', () => {
  for (const name of ['sshd', 'a', 'web-1', 'x'.repeat(24)]) {
    expect(isTemplateName(name)).toBe(true)
    expect(isJailName(name)).toBe(true)
  }
  for (const name of ['Sshd', '1st', 'a.b', 'a_b', 'x'.repeat(25)]) expect(isTemplateName(name)).toBe(false)
})
