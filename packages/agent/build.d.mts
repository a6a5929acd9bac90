/** Bundles the agent; the path of the file. */
export function buildAgent(): Promise<string>
