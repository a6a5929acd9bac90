/** One or two letters for the round mark of an account: `anna.kern` is AK, `demo` is D. */
export const initialsOf = (name: string): string => {
  const words = name.split(/[._\s-]+/).filter(word => word !== '')
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0]]
  return letters
    .map(word => [...(word ?? '')][0] ?? '')
    .join('')
    .toLocaleUpperCase()
}
