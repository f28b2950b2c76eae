import { ERRORS, type ErrorReason } from '#core/base/errors/errors.ts'
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

export const LOGGED_IN = ['user', 'premium', 'admin', 'neighbour'] as const
export const ADMIN_KEYS = ['admin key of an admin', 'admin key of a user'] as const
export const PLAIN_KEYS = ['chat key', 'upload key', 'chat key of an admin'] as const
/** To whom nothing of premium belongs. */
export const STRANGERS = ['user', 'chat key of an admin', 'admin key of a user', 'neighbour'] as const

/** What these callers get, each the same. */
export const cells = <Name extends keyof ByPrincipal>(cell: Cell, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, cell])) as Record<Name, Cell>

export const MANAGERS: ByPrincipal = {
  ...cells('allowed', ...LOGGED_IN, ...ADMIN_KEYS),
  ...cells('permission_denied', ...PLAIN_KEYS),
}
/** A caller who gets the error about the wrong current password is allowed to change the password. */
export const OWN_PASSWORD: ByPrincipal = {
  ...MANAGERS,
  ...cells('invalid_request', ...LOGGED_IN, ...ADMIN_KEYS),
}
/** Every valid credential. */
export const EVERYBODY: ByPrincipal = {
  ...MANAGERS,
  ...cells('allowed', ...PLAIN_KEYS),
}
export const ADMINS: ByPrincipal = {
  ...MANAGERS,
  ...cells('role_denied', 'user', 'premium', 'admin key of a user', 'neighbour'),
}
export const TOKENS: ByPrincipal = {
  ...MANAGERS,
  ...cells('access_token_required', ...ADMIN_KEYS, ...PLAIN_KEYS),
}
export const KEYS: ByPrincipal = {
  ...cells('api_key_required', ...LOGGED_IN),
  ...cells('allowed', ...ADMIN_KEYS, ...PLAIN_KEYS),
}
/** Keys with the permission `upload`, which `admin` includes. */
export const UPLOADERS: ByPrincipal = {
  ...KEYS,
  ...cells('permission_denied', 'chat key', 'chat key of an admin'),
}
/** Administrators, too, see only their own uploads. */
export const UPLOAD_READERS: ByPrincipal = {
  ...MANAGERS,
  ...cells('upload_not_found', 'admin', 'admin key of an admin', 'neighbour'),
  'upload key': 'allowed',
}
/** Who sees its own upload. */
export const UPLOADS_SEEN: ByPrincipal = {
  ...UPLOAD_READERS,
  ...cells('nothing', 'admin', 'admin key of an admin', 'neighbour'),
}
export const KEY_READERS: ByPrincipal = { ...MANAGERS, neighbour: 'key_not_found' }
/** The keys of a plain user were created by an administrator, so the user sees and revokes them but may not change them. */
export const KEY_MANAGERS: ByPrincipal = {
  ...KEY_READERS,
  ...cells('role_denied', 'user', 'admin key of a user'),
}

/** Who reads and changes the conversations of premium: administrators, their owner, and keys of the owner that may chat. */
export const CONVERSATION_READERS: ByPrincipal = {
  ...EVERYBODY,
  ...cells('conversation_not_found', ...STRANGERS),
  'upload key': 'permission_denied',
}

/** Who sees the open question of a conversation of premium: those that may answer it. */
export const PAUSE_READERS: ByPrincipal = {
  ...EVERYBODY,
  ...cells('nothing', 'admin', 'admin key of an admin', 'upload key', ...STRANGERS),
}

/** Who may stop the call of premium's chat key: administrators, its owner, and keys of the owner that may chat. */
export const CALL_STOPPERS: ByPrincipal = {
  ...EVERYBODY,
  ...cells('call_not_found', 'upload key', ...STRANGERS),
}

/** Only the key that made a kept call has its reply. */
export const KEPT_CALLS: ByPrincipal = {
  ...KEYS,
  ...cells('call_not_found', 'upload key', 'chat key of an admin', ...ADMIN_KEYS),
}
