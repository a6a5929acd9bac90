export { stockade } from '../../server/src/testing/command.ts'
export type { Ran } from '../../server/src/testing/command.ts'
