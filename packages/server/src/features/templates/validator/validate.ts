import { mostExpanded } from './expand.ts'
import { readFilter } from './filter.ts'
import { readJail } from './jail.ts'
import type { Reader, TemplateProblem } from './report.ts'

export interface Verdict {
  readonly problems: readonly TemplateProblem[]
  /** The jail's section, once there is one. */
  readonly name: string | null
  /** Files of the engine that it rests on, relative to its folder of configuration. */
  readonly requiredFiles: readonly string[]
}

/** As many errors, and as many warnings, as anyone reads. */
const mostProblems = 100

/**
 * Reads both texts as the engine would, as far as that is possible off the host, and says what it would not do for
 * reasons of safety. No input and output, and bounded in time whatever the texts hold.
 */
export const validate = (
  texts: { readonly jail_config: string; readonly filter_config: string },
  options: {
    /** The name of the template, when it has one already. */
    readonly name?: string
    /** `filter` values with options that pass as they are: those of the built-ins. */
    readonly knownFilters: ReadonlySet<string>
  },
): Verdict => {
  const problems: TemplateProblem[] = []
  const counts = { error: 0, warning: 0, refusal: 0 }
  const reader = (file: 'jail' | 'filter'): Reader => ({
    budget,
    report(line, message, severity = 'error', refuses) {
      // Counted apart: warnings must never crowd out an error, nor what refuses the template.
      const crowded = refuses ? counts.refusal++ >= mostProblems : counts[severity]++ >= mostProblems
      if (!crowded) problems.push({ file, line, message, severity, ...(refuses ? { refuses } : {}) })
    },
  })
  const budget = { left: mostExpanded }
  const own = texts.filter_config.trim() !== ''
  const filter = own ? readFilter(texts.filter_config, reader('filter')) : null
  const jail = readJail(texts.jail_config, reader('jail'), { ...options, own, ownRegex: filter?.failregex === true })
  // What stops it first; then by file and line.
  const rank = ({ severity, file, line }: TemplateProblem) =>
    (severity === 'error' ? 0 : 2e6) + (file === 'jail' ? 0 : 1e6) + (line ?? 0)
  problems.sort((a, b) => rank(a) - rank(b))
  return { problems, name: jail.name, requiredFiles: [...new Set([...jail.files, ...(filter?.files ?? [])])] }
}
