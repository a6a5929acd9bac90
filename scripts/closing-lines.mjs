/**
 * Prints the count of tests as the last line, in the plain form that continuous integration reads, and sees to it that a
 * failed run ends with 1: the PostgreSQL of the tests brings an exit hook that would end everything with 0.
 */
export default class ClosingLines {
  onTestRunEnd(modules, errors, reason) {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests())
        counts[test.result().state] = (counts[test.result().state] ?? 0) + 1
      // A file that broke before its tests ran counts as a failure of its own.
      if (module.state() === 'failed' && module.errors().length > 0) counts.failed++
    }
    if (counts.failed > 0 || errors.length > 0 || reason !== 'passed')
      process.on('exit', () => {
        process.exitCode = 1
      })
    process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
  }
}
