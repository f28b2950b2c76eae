import type { Reporter, TestModule } from 'vitest/node'
import { digestsOfHeavyFiles, recordProven } from './proven-files.ts'

/**
 * Records the heavy files whose tests have all passed at the first try. Only where every service is there, since tests are
 * skipped otherwise.
 */
export class ReportProven implements Reporter {
  #digests: Readonly<Record<string, string>> = {}

  onTestRunStart(): void {
    if (process.env.REQUIRE_SERVICES) this.#digests = digestsOfHeavyFiles()
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const passed = modules.filter(hasPassed).map(({ relativeModuleId }) => relativeModuleId)
    const proven = Object.entries(this.#digests).filter(([file]) => passed.includes(file))
    if (proven.length > 0) recordProven(Object.fromEntries(proven))
  }
}

function hasPassed(module: TestModule): boolean {
  const tests = [...module.children.allTests()]
  return (
    module.state() === 'passed' &&
    tests.every((test) => test.result().state === 'passed' && test.diagnostic()?.flaky !== true)
  )
}
