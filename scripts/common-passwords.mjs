import { createInterface } from 'node:readline'
import { writeFileSync } from 'node:fs'
import { bitsOf } from '../packages/server/src/features/users/common-passwords.ts'

// Makes the filter of common passwords of a list on standard input, one a line, most common first.
const most = 100_000
const passwords = new Set()
for await (const line of createInterface({ input: process.stdin })) {
  const password = line.trim().toLowerCase()
  // What the policy refuses anyway needs no place: too short, without a letter, without a digit.
  if (password.length >= 8 && /[a-z]/.test(password) && /\d/.test(password) && passwords.size < most)
    passwords.add(password)
}
const filter = Buffer.alloc(Math.ceil((passwords.size * 20) / 8))
for (const password of passwords)
  for (const bit of bitsOf(password, filter.length * 8)) filter[bit >> 3] |= 1 << (bit & 7)
writeFileSync(new URL('../packages/server/src/features/users/common-passwords.bin', import.meta.url), filter)
process.stdout.write(`${passwords.size} passwords, ${filter.length} bytes\n`)
