import type { SerializedError, TestModule } from 'vitest/node'
import { DefaultReporter } from 'vitest/node'

/** The usual report, then one plain line that a script can read: `N passed, N failed, N skipped`. */
export default class PlainReporter extends DefaultReporter {
  override onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: 'passed' | 'interrupted' | 'failed',
  ): void {
    super.onTestRunEnd(modules, errors, reason)
    const counted = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counted[test.result().state]++
      if (module.errors().length > 0) counted.failed++
    }
    this.log(`${counted.passed} passed, ${counted.failed + counted.pending} failed, ${counted.skipped} skipped`)
  }
}
