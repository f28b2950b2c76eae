export interface Candidate {
  readonly weight: number
  readonly priority: number
  readonly inFlight: number
  readonly restsUntilMs: number | undefined
}
export function choose<C extends Candidate>(all: readonly C[], random: () => number): C | undefined {
  const priority = Math.min(...all.map((c) => c.priority))
  const level = all.filter((c) => c.priority === priority)
  const awake = level.filter((c) => c.restsUntilMs === undefined)
  const from = awake.length > 0 ? awake : level
  if (from.length < 2) return from[0]
  const total = from.reduce((sum, c) => sum + c.weight, 0)
  const draw = () => {
    let at = random() * total
    return from.find((c) => (at -= c.weight) < 0) ?? from[0]
  }
  const [a, b] = [draw(), draw()]
  return a === undefined || b === undefined ? a : a.inFlight / a.weight <= b.inFlight / b.weight ? a : b
}
