import { createHash } from 'node:crypto'

/** An event as it is stored, with its time in microseconds since 1970. */
export interface StoredEvent {
  /** The version of the form from which the hash is computed. */
  readonly format: number
  readonly n: bigint
  readonly atMicros: bigint
  readonly operation: string
  readonly result: string
  readonly actor: string
  readonly userId: string | null
  readonly keyId: string | null
  readonly tokenId: string | null
  readonly name: string | null
  readonly address: string | null
  readonly requestId: string | null
  readonly target: string | null
  readonly targetId: string | null
  /** The states before and after as JSON, in the texts that are hashed. */
  readonly before: string | null
  readonly after: string | null
  readonly reason: string | null
  readonly count: number
}

/** The hash that the first event follows. */
export const FIRST_HASH: Buffer = Buffer.alloc(32)

/** The hash of an event of format 1, as `audit_hash` of the migration computes it: so two programs have to agree. */
export function hashOf(previous: Buffer, event: StoredEvent): Buffer {
  const fields = [
    String(event.format),
    String(event.n),
    String(event.atMicros),
    event.operation,
    event.result,
    event.actor,
    event.userId,
    event.keyId,
    event.tokenId,
    event.name,
    event.address,
    event.requestId,
    event.target,
    event.targetId,
    event.before,
    event.after,
    event.reason,
    String(event.count),
  ]
  return createHash('sha256').update(previous).update(fields.map(lengthPrefixed).join('')).digest()
}

/** With the length in front, no two lists of fields have the same text. */
function lengthPrefixed(value: string | null): string {
  return value === null ? '-' : `${Buffer.byteLength(value)}:${value}`
}
