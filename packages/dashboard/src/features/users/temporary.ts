/* Without what is easily mistaken for something else: it may be read out on a telephone. */
const small = 'abcdefghijkmnpqrstuvwxyz'
const capital = 'ABCDEFGHJKLMNPQRSTUVWXYZ'
const digit = '23456789'

/** An evenly distributed choice; also where the page is not on https. */
const below = (bound: number): number => {
  const most = Math.floor(2 ** 32 / bound) * bound
  for (;;) {
    const [drawn = most] = crypto.getRandomValues(new Uint32Array(1))
    if (drawn < most) return drawn % bound
  }
}
const pick = (from: string) => from.charAt(below(from.length))

/** A password to hand over that meets the policy, at least 20 characters. */
export const temporaryPassword = (minimum: number): string => {
  const all = small + capital + digit
  const signs = [pick(small), pick(capital), pick(digit)]
  while (signs.length < Math.max(20, minimum)) signs.push(pick(all))
  for (let index = signs.length - 1; index > 0; index--) {
    const other = below(index + 1)
    ;[signs[index], signs[other]] = [signs[other] ?? '', signs[index] ?? '']
  }
  return signs.join('')
}
