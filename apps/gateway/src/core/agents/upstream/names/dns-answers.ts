import type { LookupAddress, promises, RecordWithTtl } from 'node:dns'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { sleep } from '#core/base/async/sleep.ts'
import { BoundedMap } from '#core/base/values/bounded-map.ts'
import { errorCode } from '#core/base/values/error-code.ts'
import { interleaved, notFound } from './lookup-answer.ts'

/** How long an answer is used; less if the records say so. */
const KEPT_MS = 30_000
/** How long an answer is used beyond that while no name server answers, counted from when it came. */
const USABLE_MS = 300_000
const FAILURE_KEPT_MS = 1_000
/** How long the addresses of one family wait for those of the other (RFC 8305). */
const OTHER_FAMILY_MS = 50
const NAMES_MAX = 1_000

/** What a name server says about a name. Every other error means that it cannot say anything at the moment. */
const VERDICTS = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADQUERY'])

/** Where a name is looked up, at the moment of the look-up. */
export interface DnsSource {
  readonly resolver: promises.Resolver
  /** The full names that the name may stand for, in the order in which they are tried. */
  readonly fullNames: readonly string[]
}

type Known =
  | {
      readonly kind: 'addresses'
      readonly addresses: readonly LookupAddress[]
      readonly keptUntilMs: number
      readonly usableUntilMs: number
      /** Whether no name server has answered since the addresses have become old. */
      readonly isOld: boolean
    }
  | { readonly kind: 'failure'; readonly error: unknown; readonly keptUntilMs: number }

interface Records {
  readonly addresses: readonly string[]
  readonly ttlMs: number
}

/** Answers of name servers. A name is queried once for all callers that need it, and again when its answer has become old. */
export class DnsAnswers {
  readonly #sourceOf: (name: string) => DnsSource
  readonly #elapsedMs: () => number
  readonly #known = new BoundedMap<string, Known>(NAMES_MAX)
  readonly #asking = new Map<string, Promise<readonly LookupAddress[]>>()

  constructor(sourceOf: (name: string) => DnsSource, elapsedMs: () => number) {
    this.#sourceOf = sourceOf
    this.#elapsedMs = elapsedMs
  }

  /** Rejects with the error of c-ares, whose code is `ENOTFOUND`, `ENODATA`, `ETIMEOUT`, `ECONNREFUSED` or the like. */
  find(name: string): Promise<readonly LookupAddress[]> {
    const known = this.#known.get(name)
    const nowMs = this.#elapsedMs()
    if (known !== undefined && nowMs < known.keptUntilMs) {
      return known.kind === 'failure' ? Promise.reject(known.error) : Promise.resolve(known.addresses)
    }
    const asking = markRejectionHandled(this.#asking.get(name) ?? this.#ask(name))
    // Only the first look-up waits for silent name servers; those after it would wait for as long, and in vain.
    const isSilent = known?.kind === 'addresses' && known.isOld && nowMs < known.usableUntilMs
    return isSilent ? Promise.resolve(known.addresses) : asking
  }

  #ask(name: string): Promise<readonly LookupAddress[]> {
    const asking = markRejectionHandled(this.#lookUp(name).finally(() => this.#asking.delete(name)))
    this.#asking.set(name, asking)
    return asking
  }

  async #lookUp(name: string): Promise<readonly LookupAddress[]> {
    try {
      const { records, late } = await askFor(this.#sourceOf(name), name)
      const known = this.#keep(name, records)
      // The other family completes the answer for those who ask next.
      markRejectionHandled(
        late?.then((complete) => {
          if (complete !== undefined && this.#known.get(name) === known) this.#keep(name, complete)
        }),
      )
      return known.addresses
    } catch (error) {
      return this.#fallBack(name, error)
    }
  }

  #keep(name: string, { addresses, ttlMs }: Records) {
    const nowMs = this.#elapsedMs()
    const known = {
      kind: 'addresses' as const,
      addresses: interleaved(addresses),
      keptUntilMs: nowMs + Math.min(KEPT_MS, ttlMs),
      usableUntilMs: nowMs + USABLE_MS,
      isOld: false,
    }
    this.#known.set(name, known)
    return known
  }

  /** @throws the error, unless it says nothing about the name and there are addresses of an earlier answer */
  #fallBack(name: string, error: unknown): readonly LookupAddress[] {
    const known = this.#known.get(name)
    const nowMs = this.#elapsedMs()
    const keptUntilMs = nowMs + FAILURE_KEPT_MS
    if (known?.kind === 'addresses' && nowMs < known.usableUntilMs && !isVerdict(error)) {
      this.#known.set(name, { ...known, keptUntilMs, isOld: true })
      return known.addresses
    }
    this.#known.set(name, { kind: 'failure', error, keptUntilMs })
    throw error
  }
}

/**
 * Tries the full names until one has addresses.
 *
 * @returns `late` if one family has not answered in time: the addresses of both, or undefined if it has none. It never rejects
 */
async function askFor({ resolver, fullNames }: DnsSource, name: string) {
  let unknown: unknown
  let failed: unknown
  for (const fullName of fullNames) {
    try {
      return await askForBoth(resolver, fullName)
    } catch (error) {
      // A silent server is not queried for the other names, since callers would wait as long for each of them.
      if (isSilence(error)) throw error
      if (isVerdict(error)) unknown ??= error
      else failed ??= error
    }
  }
  throw failed ?? unknown ?? notFound(name)
}

async function askForBoth(
  resolver: promises.Resolver,
  fullName: string,
): Promise<{ records: Records; late?: Promise<Records | undefined> }> {
  const got: Records[] = []
  const errors: unknown[] = []
  const first = Promise.withResolvers<void>()
  const settled = (query: Promise<RecordWithTtl[]>) =>
    query.then(
      (records) => {
        got.push(recordsOf(records))
        first.resolve()
      },
      (error) => void errors.push(error),
    )
  const both = markRejectionHandled(
    Promise.all([
      settled(resolver.resolve4(fullName, { ttl: true })),
      settled(resolver.resolve6(fullName, { ttl: true })),
    ]),
  )
  await Promise.race([both, first.promise.then(() => sleep(OTHER_FAMILY_MS))])
  const count = got.length
  // Of two errors the one counts that leaves open what the name has.
  if (count === 0) throw errors.find((error) => !isVerdict(error)) ?? errors[0]
  if (count + errors.length === 2) return { records: joined(got) }
  const late = markRejectionHandled(both.then(() => (got.length > count ? joined(got) : undefined)))
  return { records: joined(got), late }
}

function recordsOf(records: readonly RecordWithTtl[]): Records {
  const ttls = records.map(({ ttl }) => ttl * 1_000)
  return { addresses: records.map(({ address }) => address), ttlMs: Math.min(...ttls) }
}

function joined(got: readonly Records[]): Records {
  return {
    addresses: got.flatMap(({ addresses }) => addresses),
    ttlMs: Math.min(...got.map(({ ttlMs }) => ttlMs)),
  }
}

function isVerdict(error: unknown): boolean {
  return VERDICTS.has(errorCode(error) ?? '')
}

function isSilence(error: unknown): boolean {
  return ['ETIMEOUT', 'ECONNREFUSED'].includes(errorCode(error) ?? '')
}
