import { fail, type Problem } from '#core/errors.ts'
import type { Limits } from '#core/limits/limits.ts'
import { networkOf } from '#core/limits/network-of.ts'

/** Throws the problem of a refused key, or `rate_limited` once an address has had too many refused: valid keys never come here. */
export async function refuseKey(
  limits: Pick<Limits, 'refusedKeys'>,
  address: string,
  problem: Problem,
): Promise<never> {
  const verdict = await limits.refusedKeys.take(networkOf(address))
  if (verdict.allowed) throw problem
  fail('rate_limited', {
    detail: `At most ${verdict.points} refused keys in ${verdict.windowSeconds} s from one address.`,
    retryAfterSeconds: verdict.resetSeconds,
  })
}
