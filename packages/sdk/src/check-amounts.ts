import { TrunklineError } from './errors.ts'

/**
 * Checks the amounts among the options of a client or of a call.
 *
 * @throws TrunklineError naming the first option that is at fault
 */
export function checkAmounts(options: object): void {
  for (const name of ['timeoutMs', 'idleTimeoutMs', 'maxRetries']) {
    // NaN fails every comparison.
    if (!((Reflect.get(options, name) ?? 0) >= 0))
      throw new TrunklineError(`${name} must be a number from 0 on.`)
  }
}
