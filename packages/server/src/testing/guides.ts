import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const guides = fileURLToPath(new URL('../../../../docs/guides/', import.meta.url))

/** The blocks of a guide that are marked with a language, in their order. */
export const guideBlocks = (guide: string, language: string): string[] =>
  [...readFileSync(`${guides}${guide}.md`, 'utf8').matchAll(/^```(\w+)\n([^]*?)^```$/gm)].flatMap(
    ([, found, text = '']) => (found === language ? [text] : []),
  )
