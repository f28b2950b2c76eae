/** A deployment that can take a call: its breaker lets calls pass, and it has a free slot. */
export interface Candidate {
  /** Its share of the calls among the candidates of its priority; with 0 it gets none. */
  readonly weight: number
  /** The lowest is chosen. */
  readonly priority: number
  /** Its calls in progress. */
  readonly inFlight: number
  /** When the rest of the credential that the call needs there ends; undefined if it does not rest. */
  readonly restsUntilMs: number | undefined
}

/**
 * Chooses among those of the lowest priority whose credential does not rest: two are drawn at random by weight (they may be the
 * same), and the one with fewer calls in progress for its weight is taken. So shares follow the weights call by call, and under
 * load the slower one gets fewer.
 *
 * If all credentials rest, the one whose rest ends first is used all the same: the caller gets the platform's own answer, and
 * its success ends the rest. Undefined if there is no candidate with a weight.
 *
 * @param random - returns numbers from 0 up to 1; not called if there is nothing to choose
 */
export function choose<Each extends Candidate>(
  candidates: readonly Each[],
  random: () => number,
): Each | undefined {
  if (candidates.length <= 1) return candidates.find(({ weight }) => weight > 0)
  let priority = Number.POSITIVE_INFINITY
  for (const each of candidates) {
    if (isAwake(each) && each.priority < priority) priority = each.priority
  }
  let nearest: Each | undefined
  let number = 0
  let weight = 0
  for (const each of candidates) {
    if (!isAwake(each) || each.priority !== priority) continue
    nearest = each
    number += 1
    weight += each.weight
  }
  if (nearest === undefined) return firstToWake(candidates)
  if (number === 1) return nearest
  const first = draw(candidates, priority, weight * random()) ?? nearest
  const second = draw(candidates, priority, weight * random()) ?? nearest
  return loadOf(second) < loadOf(first) ? second : first
}

function isAwake({ weight, restsUntilMs }: Candidate): boolean {
  return weight > 0 && restsUntilMs === undefined
}

function firstToWake<Each extends Candidate>(candidates: readonly Each[]): Each | undefined {
  let first: Each | undefined
  for (const each of candidates) {
    if (each.weight > 0 && (first === undefined || isSooner(each, first))) first = each
  }
  return first
}

function isSooner(one: Candidate, other: Candidate): boolean {
  const difference = (one.restsUntilMs ?? 0) - (other.restsUntilMs ?? 0)
  return difference < 0 || (difference === 0 && one.priority < other.priority)
}

/** @param at - from 0 up to the sum of the weights; undefined may only be returned because such sums are rounded */
function draw<Each extends Candidate>(
  candidates: readonly Each[],
  priority: number,
  at: number,
): Each | undefined {
  let left = at
  for (const each of candidates) {
    if (!isAwake(each) || each.priority !== priority) continue
    left -= each.weight
    if (left < 0) return each
  }
  return undefined
}

function loadOf({ inFlight, weight }: Candidate): number {
  return inFlight / weight
}
