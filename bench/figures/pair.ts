/** The same measured twice: the baseline, and what is compared with it. */
export interface Pair<T> {
  readonly base: T
  readonly tested: T
}

/** Measures both directly one after the other, because other load on the machine changes from minute to minute. */
export async function onBoth<From, To>(
  { base, tested }: Pair<From>,
  measure: (value: From) => Promise<To>,
): Promise<Pair<To>> {
  return { base: await measure(base), tested: await measure(tested) }
}

export function each<From, To>({ base, tested }: Pair<From>, map: (value: From) => To): Pair<To> {
  return { base: map(base), tested: map(tested) }
}

/** So many rounds of {@link onBoth}. */
export async function inTurns<From, To>(
  rounds: number,
  pair: Pair<From>,
  measure: (value: From) => Promise<To>,
): Promise<Pair<To>[]> {
  const pairs: Pair<To>[] = []
  while (pairs.length < rounds) pairs.push(await onBoth(pair, measure))
  return pairs
}
