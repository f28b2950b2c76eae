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

  /** Prints the last line. */
  end(): void {
    const { length } = this.#missed
    if (length === 0) console.log(`${this.#scenario}: all aims held`)
    else console.log(`${this.#scenario}: ${length} aims not held: ${this.#missed.join('; ')}`)
    if (length > 0) process.exitCode = 1
  }
}

export function ms(value: number): string {
  return `${value.toFixed(1)} ms`
}

/** Such as `200: 312, 503 agent_overloaded: 36`. */
export function counted(words: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].map(([word, count]) => `${word}: ${count}`).join(', ') || 'none'
}
