/** Prints the count of tests as the last line, in the plain form that continuous integration reads. */
export default class ClosingLines {
  onTestRunEnd(modules) {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests())
        counts[test.result().state] = (counts[test.result().state] ?? 0) + 1
      // A file that broke before its tests ran counts as a failure of its own.
      if (module.state() === 'failed' && module.errors().length > 0) counts.failed++
    }
    process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
  }
}
