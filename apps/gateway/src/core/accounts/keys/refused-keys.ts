import type { Problem } from '#core/base/errors/errors.ts'
import { exceeded, type Limits } from '#core/limits/limits.ts'
import { networkOf } from '#core/limits/network-of.ts'

/**
 * Counts a rejected key against the network of its address, and throws its problem. Only rejected keys are counted, so that a
 * shared address with many valid callers is never limited.
 *
 * @throws Problem the given one, or `rate_limited` if the network has sent too many rejected keys
 */
export async function refuseKey(
  limits: Pick<Limits, 'refusedKeys'>,
  address: string,
  problem: Problem,
): Promise<never> {
  const verdict = await limits.refusedKeys.take(networkOf(address))
  if (verdict.allowed) throw problem
  throw exceeded(verdict).refusing(problem.refused)
}

/** Whether the network of this address has sent as many rejected keys as it may. It asks no store. */
export function hasTooManyRefused({ refusedKeys }: Pick<Limits, 'refusedKeys'>, address: string): boolean {
  return refusedKeys.isSpent(networkOf(address))
}
