/** How long to wait after the n-th failure in a row (n from 0), in milliseconds: `first`, doubling, at most `most`. */
export const backoff =
  ({ first, most }: { readonly first: number; readonly most: number }) =>
  (failures: number): number =>
    Math.min(first * 2 ** Math.min(failures, 30), most)
