import { measureBreaker } from '../resilience/breaker.ts'
import { measureCpu } from '../resilience/cpu.ts'
import { measureFairness } from '../resilience/fairness.ts'
import { measureFaults } from '../resilience/faults.ts'
import { Figures } from '../resilience/figures.ts'
import { measureFlapping } from '../resilience/flapping.ts'
import { measureHang, measureNames } from '../resilience/hang.ts'
import { measureWeights } from '../resilience/weights.ts'
import type { Stage } from '../stage.ts'

type Part = (stage: Stage, figures: Figures) => Promise<void>

const PARTS: Readonly<Record<string, Part>> = {
  hang: measureHang,
  names: measureNames,
  faults: measureFaults,
  flapping: measureFlapping,
  breaker: measureBreaker,
  fairness: measureFairness,
  weights: measureWeights,
  cpu: measureCpu,
}

/** What becomes of calls while a platform fails, part by part, each on servers of its own. Ends with 1 if an aim is missed. */
export async function bench(stage: Stage): Promise<void> {
  const { only } = stage.options
  if (only !== undefined && PARTS[only] === undefined)
    throw new Error(`--only is one of ${Object.keys(PARTS).join(', ')}.`)
  const figures = new Figures('resilience')
  for (const [name, measure] of Object.entries(PARTS)) {
    if (only === undefined || only === name) await measure(stage, figures).finally(() => stage.clear())
  }
  figures.end()
}
