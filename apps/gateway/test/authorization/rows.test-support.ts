import { ERRORS, type ErrorReason } from '#core/errors/errors.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Services } from '#core/services/services.ts'
import {
  BOUND_CALLERS,
  type BoundCaller,
  type CALLERS,
  type Caller,
  type Callers,
} from './callers.test-support.ts'

/** The result for a caller: `allowed`, what it sees of a list, or the reason with which it is refused. */
type Cell = ErrorReason | 'allowed' | 'all' | 'nothing' | (string & {})

export type ByPrincipal = Readonly<Record<Exclude<(typeof CALLERS)[number], 'anonymous'>, Cell>>

/** Nothing of it belongs to an end user, so that whoever is bound to one gets the same. */
export const SHARED = { isShared: true } as const
/** It has no end users, so that whoever is bound to one is refused. */
export const FOR_UNBOUND = { isShared: false } as const
/** What callers get who are bound to another end user than the one to whom it belongs. That one gets what it gets unbound. */
export type ForOthers = typeof SHARED | typeof FOR_UNBOUND | Cell

/** What bound callers get. */
export function boundCells(cells: ByPrincipal, forOthers: ForOthers): Readonly<Record<BoundCaller, Cell>> {
  return Object.fromEntries(
    Object.entries(BOUND_CALLERS).map(([name, unbound]) => [
      name,
      boundCell(cells[unbound], forOthers, name.endsWith('for Ann')),
    ]),
  ) as Record<BoundCaller, Cell>
}

/**
 * What a caller gets that is bound to an end user. If it is refused unbound, it is refused for the same reason.
 *
 * @param isTheirs - whether it is bound to the end user to whom the object belongs
 */
export function boundCell(unbound: Cell, forOthers: ForOthers, isTheirs: boolean): Cell {
  if (forOthers === SHARED || Object.hasOwn(ERRORS, unbound)) return unbound
  if (forOthers === FOR_UNBOUND) return 'permission_denied'
  return isTheirs ? unbound : String(forOthers)
}

/** What a method is called with in addition to its principal. */
export interface Call {
  readonly all: Callers
  readonly services: Services
  readonly caller: Caller
}

export type Row = OpenRow | PrincipalRow | AnybodyRow

/** A method that does not depend on the caller. */
interface OpenRow {
  readonly kind: 'open'
  readonly why: string
}

/** A method that requires a principal by its type, so that a face cannot call it for an anonymous caller. */
interface PrincipalRow {
  readonly kind: 'principal'
  call(principal: Principal, call: Call): Promise<unknown>
  readonly cells: ByPrincipal
  readonly forOthers: ForOthers
}

interface AnybodyRow {
  readonly kind: 'anybody'
  call(call: Call): Promise<unknown>
  readonly cells: ByPrincipal & { readonly anonymous: Cell }
  readonly forOthers: ForOthers
}

export const open = (why: string): OpenRow => ({ kind: 'open', why })
export const forCaller = (
  cells: ByPrincipal,
  forOthers: ForOthers,
  call: PrincipalRow['call'],
): PrincipalRow => ({ kind: 'principal', call, cells, forOthers })
export const forAnybody = (
  cells: AnybodyRow['cells'],
  forOthers: ForOthers,
  call: AnybodyRow['call'],
): AnybodyRow => ({ kind: 'anybody', call, cells, forOthers })

export const MANAGERS: ByPrincipal = {
  user: 'allowed',
  premium: 'allowed',
  admin: 'allowed',
  'chat key': 'permission_denied',
  'upload key': 'permission_denied',
  'admin key of an admin': 'allowed',
  'chat key of an admin': 'permission_denied',
  'admin key of a user': 'allowed',
  neighbour: 'allowed',
}
/** Every valid credential. */
export const EVERYBODY: ByPrincipal = {
  ...MANAGERS,
  'chat key': 'allowed',
  'upload key': 'allowed',
  'chat key of an admin': 'allowed',
}
export const ADMINS: ByPrincipal = {
  ...MANAGERS,
  user: 'role_denied',
  premium: 'role_denied',
  'admin key of a user': 'role_denied',
  neighbour: 'role_denied',
}
export const TOKENS: ByPrincipal = {
  ...MANAGERS,
  'chat key': 'access_token_required',
  'upload key': 'access_token_required',
  'admin key of an admin': 'access_token_required',
  'chat key of an admin': 'access_token_required',
  'admin key of a user': 'access_token_required',
}
export const KEYS: ByPrincipal = {
  user: 'api_key_required',
  premium: 'api_key_required',
  admin: 'api_key_required',
  'chat key': 'allowed',
  'upload key': 'allowed',
  'admin key of an admin': 'allowed',
  'chat key of an admin': 'allowed',
  'admin key of a user': 'allowed',
  neighbour: 'api_key_required',
}
/** Keys with the permission `upload`, which `admin` includes. */
export const UPLOADERS: ByPrincipal = {
  ...KEYS,
  'chat key': 'permission_denied',
  'chat key of an admin': 'permission_denied',
}
/** Administrators, too, see only their own uploads. */
export const UPLOAD_READERS: ByPrincipal = {
  ...MANAGERS,
  admin: 'upload_not_found',
  'upload key': 'allowed',
  'admin key of an admin': 'upload_not_found',
  neighbour: 'upload_not_found',
}
export const KEY_READERS: ByPrincipal = { ...MANAGERS, neighbour: 'key_not_found' }
/** The keys of a plain user were created by an administrator, so the user sees and revokes them but may not change them. */
export const KEY_MANAGERS: ByPrincipal = {
  ...KEY_READERS,
  user: 'role_denied',
  'admin key of a user': 'role_denied',
}

/** Who reads and changes the conversations of premium: administrators, their owner, and keys of the owner that may chat. */
export const CONVERSATION_READERS: ByPrincipal = {
  ...EVERYBODY,
  user: 'conversation_not_found',
  'upload key': 'permission_denied',
  'chat key of an admin': 'conversation_not_found',
  'admin key of a user': 'conversation_not_found',
  neighbour: 'conversation_not_found',
}

/** Who sees the open question of a conversation of premium: those that may answer it. */
export const PAUSE_READERS: ByPrincipal = {
  ...EVERYBODY,
  user: 'nothing',
  admin: 'nothing',
  'upload key': 'nothing',
  'admin key of an admin': 'nothing',
  'chat key of an admin': 'nothing',
  'admin key of a user': 'nothing',
  neighbour: 'nothing',
}

/** Who may stop the call of premium's chat key: administrators, its owner, and keys of the owner that may chat. */
export const CALL_STOPPERS: ByPrincipal = {
  ...EVERYBODY,
  user: 'call_not_found',
  'upload key': 'call_not_found',
  'chat key of an admin': 'call_not_found',
  'admin key of a user': 'call_not_found',
  neighbour: 'call_not_found',
}

/** Only the key that made a kept call has its reply. */
export const KEPT_CALLS: ByPrincipal = {
  ...KEYS,
  'upload key': 'call_not_found',
  'admin key of an admin': 'call_not_found',
  'chat key of an admin': 'call_not_found',
  'admin key of a user': 'call_not_found',
}
