export * from './fields.ts'
export * from './match.ts'
export * from './read.ts'
export * from './tree.ts'
