/** The characters that one position can take: ASCII one by one, and all others as one. */
export type Set128 = Uint8Array

/** `folds`: case does not matter there. `script`: the same in JavaScript with its flag v. */
export type Node =
  | { readonly kind: 'empty' }
  /** ^ $ \A \Z \b \B: no width. */
  | { readonly kind: 'at'; readonly what: string; readonly script: string }
  | { readonly kind: 'set'; readonly set: Set128; readonly script: string; readonly folds: boolean }
  | { readonly kind: 'sequence'; readonly items: readonly Node[] }
  | { readonly kind: 'either'; readonly branches: readonly Node[] }
  /** `number` counts from 1 the groups that keep what they match; null where it keeps nothing. */
  | { readonly kind: 'group'; readonly body: Node; readonly number: number | null; readonly name: string | null }
  | { readonly kind: 'look'; readonly behind: boolean; readonly not: boolean; readonly body: Node }
  | {
      readonly kind: 'repeat'
      readonly body: Node
      readonly least: number
      readonly most: number
      readonly lazy: boolean
    }
  /** An earlier group once more. */
  | {
      readonly kind: 'back'
      readonly number: number
      readonly least: number
      readonly most: number
      readonly folds: boolean
    }
  /** An address: what fail2ban puts in place of a tag. Never empty. Where it is loose, a quantifier takes only its end. */
  | {
      readonly kind: 'tag'
      readonly tag: string
      readonly numbers: readonly number[]
      readonly set: Set128
      readonly least: number
      readonly loose: boolean
      readonly folds: boolean
    }
