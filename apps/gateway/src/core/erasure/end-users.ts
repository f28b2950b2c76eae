import { validate } from 'uuid'
import { whoIs } from '#core/audit/actor.ts'
import type { Audit } from '#core/audit/audit.ts'
import { fail, refuseField } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { DerivedIds, ErasedNames } from '#core/calls/conversation/derived-ids.ts'
import { ID_CHARACTERS_MAX } from '#core/calls/request/call.ts'
import type { CallStops } from '#core/calls/stop-calls.ts'
import { type AtPlatformDeps, createAtPlatform } from '#core/conversations/at-platform.ts'
import type { Sql } from '#core/database/database.ts'
import type { OnLimit } from '#core/limits/limits.ts'
import type { WaitingPlaces } from '#core/limits/sharing/owner-turns.ts'
import type { TakeWrite } from '#core/limits/writes.ts'
import { requireText } from '#core/requests/input/input-rules.ts'
import { isAdmin, type Principal, requireManager } from '#core/requests/principal.ts'
import type { FileStorage } from '#core/uploads/storage/storage.ts'
import { type ErasedAtAgent, eraseConversations } from './erase-conversations.ts'
import {
  type AgentsByContext,
  daysOfLedger,
  type EndUser,
  listFromLedger,
  renameInLedger,
} from './erase-ledger.ts'
import { eraseUploads } from './erase-uploads.ts'
import { createErasureTurns } from './erasure-turns.ts'
import { stopRunning } from './stop-running.ts'

/** Whom to erase. */
export interface Erasure {
  readonly endUser: string
  /** The user to whose keys the calls belong. Administrators have to name one; all others can only name themselves. */
  readonly ownerId?: string | undefined
}

/** What an erasure has done, and what it has left for a repetition. */
export interface ErasedEndUser {
  readonly ownerId: string
  /** What takes the place of the name. */
  readonly pseudonym: string
  /** Whether nothing has the name any more. */
  readonly complete: boolean
  /** The calls that ran and were stopped. */
  readonly stoppedCalls: number
  /** Calls that still run, or have begun meanwhile. */
  readonly runningCalls: number
  readonly agents: readonly ErasedAtAgent[]
  readonly deletedUploads: number
  /** Uploads that are left, because the storage has failed. */
  readonly remainingUploads: number
}

export interface EndUsersDeps extends AtPlatformDeps {
  /** For what a single deletion of a conversation does as well. */
  readonly sql: Sql
  /** A connection of their own, for everything else. */
  readonly erasures: Sql
  readonly places?: WaitingPlaces | undefined
  readonly storage: Pick<FileStorage, 'remove'>
  /** How long the storage may take in all to remove the files of one end user. */
  readonly stalledMs: number
  readonly callStops: Pick<CallStops, 'stop'>
  readonly derivedIds: Pick<DerivedIds, 'endUserId' | 'erased'>
  readonly takeWrite: TakeWrite
  readonly audit: Pick<Audit, 'append'>
  readonly runtime: Pick<Runtime, 'elapsedMs'>
}

/** The end users of owners, whom an owner erases, with a token or a key with `admin`, and administrators for any owner. */
export type EndUsers = ReturnType<typeof createEndUsers>

export function createEndUsers(deps: EndUsersDeps) {
  const { sql, derivedIds, takeWrite, audit } = deps
  const atPlatform = createAtPlatform(deps)
  const turns = createErasureTurns(deps.erasures, deps.places)

  async function ownerOf(caller: Principal, { ownerId }: Erasure): Promise<string> {
    if (!isAdmin(caller)) {
      if (ownerId !== undefined && ownerId !== caller.userId)
        fail('role_denied', 'Only administrators erase the end users of others.')
      return caller.userId
    }
    if (ownerId === undefined)
      return refuseField(['ownerId'], 'is required of administrators; expected the id of a user.')
    const [owner] = validate(ownerId)
      ? await sql.query<{ readonly id: string }>('SELECT id::text FROM users WHERE id = $1::uuid', [ownerId])
      : []
    return owner?.id ?? refuseField(['ownerId'], 'expected the id of a user.')
  }

  /** How the agents of this moment keep conversations. */
  function agentsByContext(): AgentsByContext {
    const agents = [...deps.catalog.current().values()]
    const withContext = (...contexts: readonly string[]) =>
      agents.filter((agent) => contexts.includes(agent.context)).map(({ id }) => id)
    return { atPlatform: withContext('client', 'platform'), none: withContext('none') }
  }

  async function eraseAll(
    erasures: Sql,
    caller: Principal,
    whom: EndUser,
    names: ErasedNames,
  ): Promise<ErasedEndUser & { readonly conversationsLeft: number }> {
    const { ownerId, endUser } = whom
    const stoppedCalls = await stopRunning({ ...deps, sql: erasures }, caller, whom)
    const days = await daysOfLedger(erasures, whom)
    const contexts = agentsByContext()
    for (const day of days) await listFromLedger(erasures, whom, day, contexts)
    const agents = await eraseConversations({ ...deps, erasures, atPlatform }, whom)
    await erasures.query('DELETE FROM pauses WHERE owner_id = $1::uuid AND end_user = $2', [ownerId, endUser])
    const idAtPlatforms = derivedIds.endUserId(ownerId, endUser)
    const deletedUploads = await eraseUploads({ ...deps, sql: erasures }, whom, idAtPlatforms)
    for (const day of days) await renameInLedger(erasures, whom, day, names)
    // Once more for what was settled meanwhile, which is of these days.
    const daysMeanwhile = await daysOfLedger(erasures, whom, DAYS_MEANWHILE)
    for (const day of daysMeanwhile) await renameInLedger(erasures, whom, day, names)
    const { conversations, calls, uploads } = await left(erasures, whom)
    return {
      ownerId,
      pseudonym: names.pseudonym,
      complete: conversations + calls + uploads === 0,
      stoppedCalls,
      runningCalls: calls,
      agents,
      deletedUploads,
      remainingUploads: uploads,
      conversationsLeft: conversations,
    }
  }

  return {
    /**
     * Erases an end user: stops its running calls, deletes its conversations at their platforms and here, its open questions, its kept
     * replies and its files, and puts a pseudonym in the place of its name in the ledger and the rollups. What a platform does not
     * delete now stays listed by the old name until a repetition has deleted it.
     *
     * @throws Problem `permission_denied`, `role_denied`, `invalid_request`, `rate_limited`, `unavailable`
     */
    async erase(caller: Principal, erasure: Erasure, onLimit?: OnLimit): Promise<ErasedEndUser> {
      requireManager(caller)
      checkEndUser(erasure.endUser)
      if (caller.endUser !== undefined && caller.endUser !== erasure.endUser)
        fail('permission_denied', 'The request is bound to another end user.')
      const ownerId = await ownerOf(caller, erasure)
      turns.requirePlace(ownerId)
      await takeWrite(caller, onLimit)
      const whom = { ownerId, endUser: erasure.endUser }
      const names = derivedIds.erased(ownerId, whom.endUser)
      const event = (after: object) =>
        audit.append(whoIs(caller), {
          operation: 'endUsers.erase',
          target: 'end_user',
          targetId: names.pseudonym,
          after: { owner_id: ownerId, ...after },
        })
      try {
        const { conversationsLeft, ...erased } = await turns.inTurn(ownerId, (erasures) =>
          eraseAll(erasures, caller, whom, names),
        )
        await event({
          complete: erased.complete,
          conversations: sum(erased.agents.map(({ deleted, unsupported }) => deleted + unsupported)),
          conversations_left: conversationsLeft,
          uploads: erased.deletedUploads,
        })
        return erased
      } catch (error) {
        // What was deleted before the failure is gone, so that the log has to have who asked for it.
        await event({ complete: false }).catch(() => undefined)
        throw error
      }
    },
  }
}

/** The last days of the owner: today and, at midnight or for a long call, those before. */
const DAYS_MEANWHILE = 3

/** @throws Problem `invalid_request` */
export function checkEndUser(endUser: string): void {
  requireText(['endUser'], endUser, ID_CHARACTERS_MAX)
  if (/[\p{Cc}\p{Cs}]/u.test(endUser))
    refuseField(['endUser'], 'expected no control characters and no lone surrogates.')
  if (endUser === OTHERS) refuseField(['endUser'], 'stands for several end users in reports; expected one.')
}

/** What rollups name the end users by that are beyond the bound of a day. */
export const OTHERS = '(other)'

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

interface Left {
  readonly conversations: number
  /** That have not ended. */
  readonly calls: number
  readonly uploads: number
}

async function left(sql: Sql, { ownerId, endUser }: EndUser): Promise<Left> {
  const [row] = await sql.query<Left>(LEFT, [ownerId, endUser])
  if (row === undefined) throw new Error('what is left could not be counted')
  return row
}

/** `$1` owner, `$2` end user. */
const LEFT = `
SELECT
  (SELECT count(*) FROM listed_conversations WHERE owner_id = $1::uuid AND end_user = $2)::int4 AS conversations,
  (SELECT count(*) FROM calls WHERE outcome IS NULL AND owner_id = $1::uuid AND end_user = $2)::int4 AS calls,
  (SELECT count(*) FROM uploads WHERE owner_id = $1::uuid AND end_user = $2)::int4 AS uploads`
