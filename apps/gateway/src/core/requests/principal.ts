import { fail } from '#core/base/errors/errors.ts'

export const ROLES = ['admin', 'premium', 'user'] as const
export type Role = (typeof ROLES)[number]

/** A role that only a newer version of the gateway on the same database knows has the fewest rights here. */
export function knownRole(word: string): Role {
  return ROLES.find((role) => role === word) ?? 'user'
}

export const PERMISSIONS = ['chat', 'upload', 'admin'] as const
export type Permission = (typeof PERMISSIONS)[number]

/** An authenticated caller: a user with an access token, or an API key that acts for its owner. */
export interface Principal {
  readonly userId: string
  readonly role: Role
  readonly via: TokenCredential | KeyCredential
  /**
   * The end user to whom the request is bound: of all that belongs to end users, the caller sees and changes only what belongs to
   * this one. Empty for what names no end user. Undefined if the caller is bound to none, and acts for all of them.
   */
  readonly endUser?: string | undefined
  /** Where the request came from, for the audit log; absent where no request was made. */
  readonly origin?: Origin
}

/** Where a request or a command came from. */
export interface Origin {
  /** The client's network address. */
  readonly address?: string | undefined
  readonly requestId?: string | undefined
  /** The account of the operating system that ran a command. */
  readonly operator?: string | undefined
}

export interface TokenCredential {
  readonly kind: 'token'
  readonly tokenId: string
  readonly expiresAt: Date
  /** The epoch of the user's tokens in which it was issued; undefined where no token was presented, as on the command line. */
  readonly epoch?: number
}

export interface KeyCredential {
  readonly kind: 'key'
  readonly keyId: string
  /** Of the secret that was presented. */
  readonly prefix: string
  readonly permissions: readonly Permission[]
  /** Entries of the form `agent` or `agent/app`; an empty list allows all. */
  readonly allowedAgents: readonly string[]
}

/** Returns the identity by which rate limits count: the API key, or the user of an access token. */
export function credentialId({ userId, via }: Principal): string {
  return via.kind === 'key' ? `key:${via.keyId}` : `user:${userId}`
}

/** Whether the caller has all rights of its user: true for access tokens and for API keys with the permission `admin`. */
export function isManager({ via }: Principal): boolean {
  return via.kind === 'token' || via.permissions.includes('admin')
}

/** Whether the caller has administrator rights. The role is not enough: an administrator's API key also needs `admin`. */
export function isAdmin(caller: Principal): boolean {
  return caller.role === 'admin' && isManager(caller)
}

// Every service method that acts for a caller calls one of these first, because a face may have no check of its own. The
// HTTP credential hooks call the same functions earlier, to reject a request before its body is read.

/** @throws Problem `permission_denied` */
export function requireManager(caller: Principal): void {
  if (!isManager(caller)) {
    fail('permission_denied', 'This needs an API key with the permission admin, or an access token.')
  }
}

/** @throws Problem `permission_denied`, `role_denied` */
export function requireAdmin(caller: Principal): void {
  requireManager(caller)
  if (!isAdmin(caller)) fail('role_denied', 'This needs the role admin.')
}

/**
 * Requires a caller that is bound to no end user, for what is recorded without end users.
 *
 * @throws Problem `permission_denied`
 */
export function requireUnbound({ endUser }: Principal): void {
  if (endUser === undefined) return
  fail('permission_denied', 'This is recorded without end users, and the request is bound to one.')
}

/**
 * @returns the token that the caller presented
 * @throws Problem `access_token_required`
 */
export function requireToken({ via }: Principal, detail?: string): TokenCredential {
  return via.kind === 'token' ? via : fail('access_token_required', detail)
}

/**
 * @returns the API key that the caller presented, whatever its permissions
 * @throws Problem `api_key_required`
 */
export function requireKey({ via }: Principal): KeyCredential {
  return via.kind === 'key' ? via : fail('api_key_required')
}
