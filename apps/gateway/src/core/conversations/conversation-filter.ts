import { validate } from 'uuid'
import { fail } from '#core/base/errors/errors.ts'
import { allInSql } from '#core/lists/all-in-sql.ts'
import type { OrderFields } from '#core/lists/list-order.ts'
import { type Search, searchOf } from '#core/lists/search.ts'
import { allOf, ifGiven } from '#core/requests/input/all-of.ts'
import { requireShort } from '#core/requests/input/input-rules.ts'
import { isAdmin, isManager, type Principal } from '#core/requests/principal.ts'
import { Prisma } from '#generated/prisma/client.ts'

/** The order of lists of conversations. */
export const CONVERSATION_ORDERS = {
  last_activity_at: { column: 'last_activity_at', kind: 'time', direction: 'desc', isSet: true },
} as const satisfies OrderFields<string>

/** Which conversations to list. All conditions must hold. */
export interface ConversationFilter {
  readonly agent?: string | undefined
  readonly app?: string | undefined
  /** Empty for those without an end user. */
  readonly endUser?: string | undefined
  /** The client's id. */
  readonly conversation?: string | undefined
  /** A part of the name, of the client's id or of the end user, without regard to case. */
  readonly search?: string | undefined
  /** An administrator's choice; an id of another user matches nothing for others. */
  readonly ownerId?: string | undefined
}

const TEXT_LENGTH_MAX = 256

/**
 * The condition of a filter; undefined if it selects all. A text that no row can contain matches nothing.
 *
 * @throws Problem `invalid_request` with all mistakes
 */
export function filterInSql(filter: ConversationFilter): {
  rows: Prisma.Sql | undefined
  search: Prisma.Sql | undefined
} {
  const { agent, app, endUser, conversation, search: text, ownerId } = filter
  const { search, ...texts } = allOf({
    agent: () => textOf('agent', agent),
    app: () => textOf('app', app),
    endUser: () => textOf('endUser', endUser),
    conversation: () => textOf('conversation', conversation),
    search: () => searchOf(text),
  })
  const rows = allInSql([
    ownerId === undefined ? undefined : ownedBy(ownerId),
    isText('agent', texts.agent),
    isText('app', texts.app),
    isText('end_user', texts.endUser),
    isText('conversation', texts.conversation),
  ])
  return { rows, search: search && searchInSql(search) }
}

function textOf(field: string, text: string | undefined): string | undefined {
  return ifGiven(text, (given) => {
    requireShort([field], given, TEXT_LENGTH_MAX)
    return given
  })
}

/** PostgreSQL refuses some of these characters, and no id has any. */
const NEVER_IN_IDS = /[\p{Cc}\p{Cs}]/u

function isText(column: string, text: string | undefined): Prisma.Sql | undefined {
  if (text === undefined) return undefined
  return NEVER_IN_IDS.test(text) ? Prisma.sql`false` : Prisma.sql`${Prisma.raw(column)} = ${text}`
}

function ownedBy(ownerId: string): Prisma.Sql {
  return validate(ownerId) ? Prisma.sql`owner_id = ${ownerId}::uuid` : Prisma.sql`false`
}

function searchInSql(search: Search): Prisma.Sql {
  const places = ['name', 'conversation', 'end_user'].map((column) => search.isIn(inAnyForm(column)))
  return Prisma.sql`(${Prisma.join(places, ' OR ')})`
}

/** The form of `caseKey`, as far as the locale of the database has it, for texts beside which that form is not stored. */
function inAnyForm(column: string): string {
  return `replace(lower(normalize(${column}, NFKC)), 'ς', 'σ')`
}

/** Whether the caller may see any conversation at all. */
export function mayRead(caller: Principal): boolean {
  return caller.via.kind !== 'key' || isManager(caller) || caller.via.permissions.includes('chat')
}

/**
 * The conversations that the caller may see: an administrator all, a user its own, and an API key those of its owner with the agents
 * that the key may use; each of them only those of the end user to whom it is bound, if it is bound to one.
 *
 * @throws Problem `permission_denied` for an API key that may not chat
 */
export function visibleInSql(caller: Principal): Prisma.Sql {
  const { via, userId, endUser } = caller
  const conditions = [
    isAdmin(caller) ? undefined : Prisma.sql`owner_id = ${userId}::uuid`,
    isText('end_user', endUser),
  ]
  if (via.kind === 'key' && !isManager(caller)) {
    if (!mayRead(caller))
      fail(
        'permission_denied',
        'This needs an API key with the permission chat or admin, or an access token.',
      )
    if (via.allowedAgents.length > 0) {
      const allowed = Prisma.sql`ARRAY(SELECT json_array_elements_text(${JSON.stringify(via.allowedAgents)}::json))`
      conditions.push(Prisma.sql`agent = ANY (${allowed}) OR agent || '/' || app = ANY (${allowed})`)
    }
  }
  return allInSql(conditions) ?? Prisma.sql`true`
}
