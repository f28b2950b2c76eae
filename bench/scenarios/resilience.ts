import { runParts } from '../figures/parts.ts'
import { measureCpu } from '../resilience/cpu.ts'
import { measureHang, measureNames } from '../resilience/hang.ts'
import type { Stage } from '../stage.ts'

/** What a platform that fails costs everybody else. What becomes of its own calls is for the tests to say. */
export function bench(stage: Stage): Promise<void> {
  return runParts(stage, 'resilience', { hang: measureHang, names: measureNames, cpu: measureCpu })
}
