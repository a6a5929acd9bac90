import { drawWorld } from './world.ts'
import type { World } from './world.ts'

/** The outlines as the map shows them; a build puts in their place what this gives (`vite.config.ts`). */
export const outlines: World = drawWorld()
