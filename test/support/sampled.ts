import { createHash } from 'node:crypto'
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Chooses the cases that {@link sampled} returns. A project that does not provide it runs all of them. */
    sampleSeed: string
  }
}

/** Of how many cases a sample has one. */
const EACH = 8

/**
 * An eighth of the cases, at least one, in their order. `TEST_SEED` chooses which; it is printed where the run starts. All of
 * them in the project `exhaustive`, which is part of `test:rest`.
 *
 * Only for products, in which a fault usually breaks many cases. A file that uses it must be in `EXHAUSTIVE` of `suites.ts`.
 *
 * @param product - a name by which other cases are chosen than of another product that has as many
 */
export function sampled<Case>(cases: readonly Case[], product = ''): readonly Case[] {
  const seed: string | undefined = inject('sampleSeed')
  if (seed === undefined) return cases
  // By a hash rather than every eighth, which in a product of eight columns would be a single column.
  const hashOf = (_: Case, index: number) =>
    createHash('sha256').update(`${seed} ${product} ${cases.length} ${index}`).digest('hex')
  const last = cases.map(hashOf).toSorted()[Math.ceil(cases.length / EACH) - 1] ?? ''
  return cases.filter((each, index) => hashOf(each, index) <= last)
}
