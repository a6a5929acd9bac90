/** What stops a command for a reason that the operator can act upon: one sentence, and the exit code 1. */
export class Failure extends Error {}

/** The command was given wrongly: one sentence, and the exit code 2. */
export class Misuse extends Error {}
