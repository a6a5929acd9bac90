import { expect, it } from 'vitest'
import { isLocal } from '../../lib/local-url.ts'
import { keepsRules } from './rules.ts'

it.each([
  ['Sup3r-secret-1', true],
  ['Ab1', false],
  ['alllower1', false],
  ['ALLUPPER1', false],
  ['NoDigitsHere', false],
])('%s: %j', (password, is) => expect(keepsRules(password)).toBe(is))

it.each([
  ['http://localhost:8420', true],
  ['http://127.0.0.1:8420', true],
  ['http://[::1]:8420', true],
  ['https://stockade.example', false],
  ['http://192.0.2.10:8420', false],
  ['not an address', false],
])('%s: %j', (address, is) => expect(isLocal(address)).toBe(is))
