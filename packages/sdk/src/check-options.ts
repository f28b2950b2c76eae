import { TrunklineError } from './errors.ts'

/**
 * Checks the options of a client, a call or a reader: the amounts, and, for programs in JavaScript, the names. One that is nearly
 * that of an option, such as `timeout`, would have no effect.
 *
 * @throws TrunklineError naming the first option that is at fault
 */
export function checkOptions(options: object): void {
  for (const name of ['timeoutMs', 'idleTimeoutMs', 'maxRetries', 'baseURL', 'apiKey']) {
    for (const given in options) {
      if (given !== name && name.toLowerCase().startsWith(given.toLowerCase()))
        throw new TrunklineError(`${given} must be named ${name}.`)
    }
    // NaN fails every comparison.
    if (/s$/.test(name) && !((Object(options)[name] ?? 0) >= 0))
      throw new TrunklineError(`${name} must be a number from 0 on.`)
  }
}
