import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { lookupWith } from '#core/agents/upstream/names/lookup-answer.ts'
import { isPublicAddress } from '#core/requests/input/public-host.ts'

/** The name has no address that is public, so nothing was connected to. */
export class PrivateAddress extends Error {
  constructor() {
    super('the name has no public address')
    this.name = 'PrivateAddress'
  }
}

/**
 * Leaves only the public ones of a name's addresses. They are those that are connected to, so a name server that changes its
 * answer between a check and the connection gains nothing: there is one answer.
 */
export function publicLookup(lookup: LookupFunction): LookupFunction {
  return lookupWith(async (name, options) => {
    const found = await new Promise<readonly LookupAddress[]>((resolve, reject) => {
      lookup(name, { ...options, all: true }, (error, addresses) => {
        if (error !== null) reject(error)
        else resolve(typeof addresses === 'string' ? [] : addresses)
      })
    })
    const isPublic = found.filter(({ address }) => isPublicAddress(address))
    if (isPublic.length === 0) throw new PrivateAddress()
    return isPublic
  })
}
