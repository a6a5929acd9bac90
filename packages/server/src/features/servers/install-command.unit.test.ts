import { expect, test } from 'vitest'
import { installCommand } from './install-command.ts'

test.each([
  ['https://stockade.example', ''],
  ['http://localhost:8420', ''],
  ['http://127.0.0.1:8420/base', ''],
  ['http://10.0.0.5:8420', ' --insecure-http'],
  ['http://localhost.example', ' --insecure-http'],
])('the command of %s ends with "%s"', (baseUrl, end) => {
  expect(installCommand(baseUrl, 'sit_x', null)).toBe(
    `curl -fsSL ${baseUrl}/install.sh | sudo sh -s -- --token sit_x${end}`,
  )
})

test('what a shell would read in an address is quoted', () => {
  expect(installCommand('http://[::1]:8420', 'sit_x', null)).toBe(
    "curl -fsSL 'http://[::1]:8420/install.sh' | sudo sh -s -- --token sit_x",
  )
})

test('a server that no authority vouches for is known by its key, for curl and for the agent', () => {
  const pin = 'sha256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE='
  expect(installCommand('https://192.0.2.1:8420', 'sit_x', pin)).toBe(
    `curl -fsSLk --pinnedpubkey '${pin}' https://192.0.2.1:8420/install.sh | sudo sh -s -- --token sit_x --pin '${pin}'`,
  )
  expect(installCommand('http://localhost:8420', 'sit_x', pin)).not.toContain('pin')
})
