/** One small mistake in one file, as a person makes it. */
export interface Fault {
  /** Below the checkout. */
  readonly file: string
  /** Stands in the file exactly once. */
  readonly find: string
  readonly replace: string
  /** The harm, in one sentence. */
  readonly says: string
  /** Beside the main path: a bound, a race, a rare state or input. */
  readonly edge?: true
}

/** Faults whose files are below one folder. */
export const below = (folder: string, faults: readonly Fault[]): readonly Fault[] =>
  faults.map(fault => ({ ...fault, file: `${folder}/${fault.file}` }))
