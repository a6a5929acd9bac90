/* Memory of typed arrays, which lies outside the heap: the collector would keep what is not needed any more for minutes. */

export type Numbers =
  | Float64Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>

/** Gives the memory of arrays back at once. They are empty from then on. */
export const free = (...arrays: readonly Numbers[]): void => {
  for (const { buffer } of arrays) buffer.transfer(0)
}
/** A longer array with the same beginning instead of this one, which is freed. */
export const longer = <A extends Numbers>(array: A, length: number): A => {
  const copy = new (array.constructor as new (length: number) => A)(length)
  copy.set(array as never)
  free(array)
  return copy
}
