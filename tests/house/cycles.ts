import { cruise } from 'dependency-cruiser'

/**
 * The circles of imports below some directories, each as its modules in order, and how many modules were read. Type imports count,
 * because such modules cannot be read, tested or moved alone either.
 */
export const cyclesOf = async (
  directories: readonly string[],
  baseDir: string,
): Promise<{ readonly modules: number; readonly cycles: readonly string[] }> => {
  const { output } = await cruise(
    [...directories],
    {
      baseDir,
      tsPreCompilationDeps: true,
      doNotFollow: { path: 'node_modules' },
      exclude: { path: String.raw`(node_modules|/dist/|\.test\.tsx?$)` },
      validate: true,
      ruleSet: { forbidden: [{ name: 'no-circular', severity: 'error', from: {}, to: { circular: true } }] },
    },
    { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  )
  if (typeof output === 'string') throw new Error(output)
  const cycles = output.summary.violations.map(({ from, cycle }) =>
    [from, ...(cycle ?? []).map(({ name }) => name)].join(' -> '),
  )
  return { modules: output.summary.totalCruised, cycles }
}

export const cycleAdvice =
  'Move what both modules need into a module below them, for example a type into a file of its own.'
