export declare const bundleInputs: readonly string[]
/** The file of a program, `server/src/main` for example: from the bundle when it is fresh, else from the sources. */
export declare const program: (name: string) => string
