import type { Stage } from '../stage.ts'
import type { Pair } from './pair.ts'
import { median, quantile } from './quantile.ts'
import { range } from './rows.ts'

export type Part = (stage: Stage, figures: Figures) => Promise<void>

/** Runs all parts of a scenario or the one of `--only`, each on servers of its own. Ends with 1 if an aim is missed. */
export async function runParts(
  stage: Stage,
  scenario: string,
  parts: Readonly<Record<string, Part>>,
): Promise<void> {
  const { only } = stage.options
  if (only !== undefined && parts[only] === undefined)
    throw new Error(`--only is one of ${Object.keys(parts).join(', ')}.`)
  const figures = new Figures(scenario)
  for (const [name, measure] of Object.entries(parts)) {
    if (only === undefined || only === name) await measure(stage, figures).finally(() => stage.clear())
  }
  figures.end()
}

/** The figures of a run, printed as they come, each with its aim. */
export class Figures {
  readonly #missed: string[] = []
  readonly #scenario: string

  constructor(scenario: string) {
    this.#scenario = scenario
  }

  /** Prints a figure and notes whether its aim is reached. Without an aim it is for information. */
  add(part: string, figure: string, aim?: { readonly text: string; readonly isHeld: boolean }): void {
    if (aim === undefined) {
      console.log(`${part}: ${figure}`)
      return
    }
    console.log(`${part}: ${figure} (aim: ${aim.text})${aim.isHeld ? '' : ' NOT HELD'}`)
    if (!aim.isHeld) this.#missed.push(`${part}: ${figure}`)
  }

  /** Prints durations, of which each keeps to the aim. */
  addTimes(part: string, name: string, times: readonly number[], mostMs: number): void {
    const [middle, p99, most] = [0.5, 0.99, 1].map((share) => quantile(times, share))
    const figure = `${name} ${ms(middle)}, p99 ${ms(p99)}, at most ${ms(most)} (${times.length})`
    this.add(part, figure, { text: ms(mostMs), isHeld: (most ?? Number.NaN) <= mostMs })
  }

  /** Prints the last line. */
  end(): void {
    const { length } = this.#missed
    if (length === 0) console.log(`${this.#scenario}: all aims held`)
    else console.log(`${this.#scenario}: ${length} aims not held: ${this.#missed.join('; ')}`)
    if (length > 0) process.exitCode = 1
  }
}

export function ms(value = Number.NaN): string {
  return `${value.toFixed(1)} ms`
}

/** Such as `200: 312, 503 agent_overloaded: 36`. */
export function counted(words: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].map(([word, count]) => `${word}: ${count}`).join(', ') || 'none'
}

/** The CPU of what was measured in several rounds, beside its baseline, with the aim that the ratio of both keeps to. */
export function compared(
  name: string,
  rounds: readonly Pair<number>[],
  { text, ratioMax }: { readonly text: string; readonly ratioMax: number },
): [figure: string, aim: { readonly text: string; readonly isHeld: boolean }] {
  const ratios = rounds.map(({ base, tested }) => tested / base)
  const us = (side: keyof Pair<number>) => `${median(rounds.map((round) => round[side])).toFixed(1)} µs`
  const ratio = median(ratios)
  const figure = `${name}: ${us('tested')} beside ${us('base')}, × ${ratio.toFixed(3)} (${range(ratios)})`
  return [figure, { text, isHeld: ratio <= ratioMax }]
}
