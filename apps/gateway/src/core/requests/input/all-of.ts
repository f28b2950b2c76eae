import { MISTAKES_MAX, Problem } from '#core/base/errors/errors.ts'

/**
 * Applies every rule, also after one has failed, so that a caller learns all mistakes of a form at once. The rules come in
 * the order in which a face shows the fields. Rules that need the database are applied afterwards, by themselves.
 *
 * @returns what the rules returned
 * @throws Problem of the first mistake, with all others; anything else that a rule throws is passed on at once
 */
export function allOf<Results extends object>(
  rules: {
    readonly [Name in keyof Results]: () => Results[Name]
  },
): Results {
  const results: Partial<Results> = {}
  const refusals: Problem[] = []
  for (const name of Object.keys(rules) as (keyof Results)[]) {
    const refusal = refusalBy(() => {
      results[name] = rules[name]()
    })
    if (refusal !== undefined) refusals.push(refusal)
  }
  throwTogether(refusals)
  return results as Results
}

/**
 * Applies a rule to every item of a list, up to {@link MISTAKES_MAX} mistakes.
 *
 * @throws Problem of the first mistake, with all others
 */
export function eachOf<Item>(items: readonly Item[], rule: (item: Item, index: number) => void): void {
  const refusals: Problem[] = []
  for (const [index, item] of items.entries()) {
    const refusal = refusalBy(() => rule(item, index))
    if (refusal !== undefined && refusals.push(refusal) === MISTAKES_MAX) break
  }
  throwTogether(refusals)
}

/** Applies a rule to a field that was given; undefined fields are optional, or their absence was reported already. */
export function ifGiven<Value, Result>(
  value: Value | undefined,
  rule: (value: Value) => Result,
): Result | undefined {
  return value === undefined ? undefined : rule(value)
}

/** What a rule refuses; undefined if it holds. Anything but a mistake in a field is thrown on. */
export function refusalBy(rule: () => void): Problem | undefined {
  try {
    rule()
    return undefined
  } catch (error) {
    if (error instanceof Problem && error.field !== undefined) return error
    throw error
  }
}

/** @throws Problem the first of these, with the mistakes of all; nothing if there is none */
function throwTogether([first, ...others]: readonly Problem[]): void {
  if (first === undefined) return
  if (others.length === 0) throw first
  throw first.with(others)
}
