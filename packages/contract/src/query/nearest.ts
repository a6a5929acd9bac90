/** Steps of one letter from one word to another; swapped neighbours are one. */
const distance = (a: string, b: string): number => {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, n) => n)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : changed
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, changed, swapped))
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}
/** The known word that was probably meant, if one is near. */
export const nearestOf = (typed: string, known: readonly string[]): string | undefined => {
  const word = typed.toLowerCase().slice(0, 64)
  if (word === '') return undefined
  const ranked = known
    .map(name => ({ name, far: name.startsWith(word) || word.startsWith(name) ? 1 : distance(word, name) }))
    .sort((a, b) => a.far - b.far)
  const [best] = ranked
  return best && best.far <= Math.max(1, Math.floor(best.name.length / 2)) && best.far <= 3 ? best.name : undefined
}
