import type { Reporter, TestModule, TestProject, TestSpecification } from 'vitest/node'
import { EXHAUSTIVE } from './suites.ts'

/** Prints the seed that chose the cases of the run before its first test, and again after a test that ran such cases has failed. */
export class ReportSample implements Reporter {
  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const seed = specifications.map(({ project, moduleId }) => seedOf(project, moduleId)).find(Boolean)
    if (seed !== undefined) console.log(` A sample of the cases of products runs: TEST_SEED=${seed}\n`)
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      const seed = seedOf(module.project, module.moduleId)
      if (seed === undefined || module.state() !== 'failed') continue
      console.log(` ${module.relativeModuleId} failed; TEST_SEED=${seed} chooses the same cases again.`)
    }
  }
}

/** The seed of the cases that a file runs a sample of. */
function seedOf(project: TestProject, moduleId: string): string | undefined {
  const isSampled = EXHAUSTIVE.some((file) => moduleId.endsWith(`/${file}`))
  const seed: string | undefined = project.getProvidedContext().sampleSeed
  return isSampled ? seed : undefined
}
