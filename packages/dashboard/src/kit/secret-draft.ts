/** A secret as the form keeps it: empty leaves it as it is, null takes it away. */
export type SecretDraft = string | null
export const unchangedSecret: SecretDraft = ''
