import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'

type Callback = Parameters<LookupFunction>[2]

/** With the addresses of one family only, if it is asked for. */
export function lookupWith(
  find: (name: string, options: LookupOptions) => Promise<readonly LookupAddress[]>,
): LookupFunction {
  return (name, options, callback) => {
    find(name, options).then(
      (addresses) => answer(name, addresses, options, callback),
      // Outside of the promise, whose rejection would hide what a callback throws.
      (error) => process.nextTick(callback, error),
    )
  }
}

/** IPv4 and IPv6 in turns, so that a network that lacks one of them costs one failed connection and not one for each address. */
export function interleaved(addresses: readonly string[]): LookupAddress[] {
  const ofFamily = (family: number) =>
    addresses.filter((address) => isIP(address) === family).map((address) => ({ address, family }))
  const [four, six] = [ofFamily(4), ofFamily(6)]
  const rounds = Math.max(four.length, six.length)
  return Array.from({ length: rounds }, (_, round) =>
    [four, six].flatMap((family) => family.slice(round, round + 1)),
  ).flat()
}

export function notFound(name: string): NodeJS.ErrnoException {
  return lookupError('ENOTFOUND', name)
}

export function lookupError(code: string, name: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`lookup ${code} ${name}`), { code, syscall: 'lookup', hostname: name })
}

/** `all` decides between a list and a single address; undici uses both ways. */
function answer(
  name: string,
  addresses: readonly LookupAddress[],
  { all, family }: LookupOptions,
  callback: Callback,
): void {
  const only = family === 'IPv4' ? 4 : family === 'IPv6' ? 6 : family
  const fitting = addresses.filter((address) => !only || address.family === only)
  const [first] = fitting
  if (first === undefined) process.nextTick(callback, notFound(name))
  else if (all === true) process.nextTick(callback, null, fitting)
  else process.nextTick(callback, null, first.address, first.family)
}
