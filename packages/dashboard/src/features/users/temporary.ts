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
  const made = [pick(small), pick(capital), pick(digit)]
  while (made.length < Math.max(20, minimum)) made.push(pick(all))
  for (let index = made.length - 1; index > 0; index--) {
    const other = below(index + 1)
    ;[made[index], made[other]] = [made[other] ?? '', made[index] ?? '']
  }
  return made.join('')
}
