import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** Lists the tests that passed only when they were run again, each with why it failed at first. */
export class ReportSecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const flaky = modules.flatMap((module) => [...module.children.allTests('passed')].filter(isFlaky))
    if (flaky.length === 0) return
    console.log(`\n Passed only at the second try: ${flaky.length}`)
    for (const test of flaky) {
      console.log(` ↻ |${test.project.name}| ${test.module.relativeModuleId} > ${test.fullName}`)
      for (const { message } of test.result().errors ?? []) console.log(indented(message))
    }
  }
}

function isFlaky(test: TestCase): boolean {
  return test.diagnostic()?.flaky === true
}

function indented(message: string): string {
  return message
    .split('\n')
    .slice(0, 30)
    .map((line) => `     ${line}`)
    .join('\n')
}
