/** So many shades has the map. */
export const shades = 5

/** The shade of a count, 1 to 5 by its order of magnitude; 0 for none. */
export const stepOf = (count: number, most: number): number => {
  if (count <= 0) return 0
  if (most <= 1) return shades
  return Math.min(shades, 1 + Math.floor((Math.log(count) / Math.log(most)) * shades + 1e-9))
}
/** Which whole numbers have each shade, lowest first; shades that no number has are left out. */
export const bandsOf = (
  most: number,
): readonly { readonly step: number; readonly from: number; readonly to: number }[] => {
  const beginning = (step: number): number => {
    if (step > shades) return most + 1
    let from = Math.max(1, Math.floor(most ** ((step - 1) / shades)) - 1)
    while (from <= most && stepOf(from, most) < step) from++
    return from
  }
  return Array.from({ length: shades }, (_, index) => index + 1).flatMap(step => {
    const [from, to] = [beginning(step), beginning(step + 1) - 1]
    return from <= to && most > 0 ? [{ step, from, to }] : []
  })
}
