/** Rows stay where they were when the reader asked for them; only what they say is of now. */
export const inOrder = <Row extends { readonly ip: string }>(
  known: readonly Row[],
  fresh: readonly Row[],
): readonly Row[] => {
  const byAddress = new Map(fresh.map(row => [row.ip, row]))
  return known.map(row => byAddress.get(row.ip) ?? row)
}
