import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import type { Origin, Principal } from '#core/requests/principal.ts'
import { Prisma, type PrismaClient } from '#generated/prisma/client.ts'
import type { AuditOperation } from './operations.ts'

/** Who did something. `database` is a change by a statement without a caller, such as one of an older version of the gateway. */
export const ACTORS = ['key', 'token', 'anonymous', 'command', 'gateway', 'database'] as const
export type Actor = (typeof ACTORS)[number]

/** The columns of an event that say who did it. */
export interface Who {
  readonly actor: Actor
  readonly userId?: string | undefined
  readonly keyId?: string | undefined
  /** Of a login, the token that it has issued. */
  readonly tokenId?: string | undefined
  /** The account of the operating system that ran a command, the prefix of the secret of a key, or the username of a failed login. */
  readonly name?: string | undefined
  readonly address?: string | undefined
  readonly requestId?: string | undefined
}

/** The gateway itself, at its start or in its maintenance. */
export const GATEWAY: Who = { actor: 'gateway' }

export function whoIs({ userId, via, origin = {} }: Principal): Who {
  // A command has all rights and acts for no user: the id of its principal is that of the user whom it concerns.
  if (origin.operator !== undefined) return { actor: 'command', name: origin.operator }
  const from = placeOf(origin)
  return via.kind === 'key'
    ? { actor: 'key', userId, keyId: via.keyId, name: via.prefix, ...from }
    : { actor: 'token', userId, tokenId: via.tokenId, ...from }
}

export function placeOf({ address, requestId }: Origin): Pick<Who, 'address' | 'requestId'> {
  return { address, requestId }
}

/**
 * The statement that says, for the rest of its transaction, who changes users, keys and signing keys: triggers write the events
 * when the transaction is committed (`audit_change` in the migration).
 */
export function sayWho(who: Who, operation: AuditOperation): Prisma.Sql {
  const doing = JSON.stringify(omitUndefined({ ...who, operation }))
  return Prisma.sql`SELECT set_config('trunkline.doing', ${doing}, true)`
}

/** Runs one statement in a transaction that says who does it. */
export async function recorded<Result>(
  prisma: PrismaClient,
  who: Who,
  operation: AuditOperation,
  statement: Prisma.PrismaPromise<Result>,
): Promise<Result> {
  const [, result] = await prisma.$transaction([prisma.$executeRaw(sayWho(who, operation)), statement])
  return result
}
