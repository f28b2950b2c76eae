import { fail } from './errors.ts'

export const ROLES = ['admin', 'premium', 'user'] as const
export type Role = (typeof ROLES)[number]

export const PERMISSIONS = ['chat', 'upload', 'admin'] as const
export type Permission = (typeof PERMISSIONS)[number]

/** An authenticated caller: a user with an access token, or an API key that acts for its owner. */
export interface Principal {
  readonly userId: string
  readonly role: Role
  readonly via: TokenCredential | KeyCredential
}

export interface TokenCredential {
  readonly kind: 'token'
  readonly tokenId: string
  readonly expiresAt: Date
}

export interface KeyCredential {
  readonly kind: 'key'
  readonly keyId: string
  readonly permissions: readonly Permission[]
  /** `agent` or `agent/app`; empty allows all. */
  readonly allowedAgents: readonly string[]
}

/** The identity that rate limits count by: the API key, or the user of an access token. */
export function credentialId({ userId, via }: Principal): string {
  return via.kind === 'key' ? `key:${via.keyId}` : `user:${userId}`
}

/** Whether the caller has all the rights of its user. An API key has them only with the permission `admin`. */
export function isManager({ via }: Principal): boolean {
  return via.kind === 'token' || via.permissions.includes('admin')
}

/** Whether the caller has the rights of an administrator. The role alone does not give them to each key of an administrator. */
export function isAdmin(caller: Principal): boolean {
  return caller.role === 'admin' && isManager(caller)
}

// Every method of a service that acts for a caller calls one of these first, because a face may have no check of its own.
// The credential hooks of HTTP call the same functions, only earlier: before the body is read.

export function requireManager(caller: Principal): void {
  if (!isManager(caller)) {
    fail('permission_denied', 'This needs an API key with the permission admin, or an access token.')
  }
}

export function requireAdmin(caller: Principal): void {
  requireManager(caller)
  if (!isAdmin(caller)) fail('role_denied', 'This needs the role admin.')
}

/** @returns the token that the caller presented */
export function requireToken({ via }: Principal, detail?: string): TokenCredential {
  return via.kind === 'token' ? via : fail('access_token_required', detail)
}

/** @returns the API key that the caller presented, whatever its permissions */
export function requireKey({ via }: Principal): KeyCredential {
  return via.kind === 'key' ? via : fail('api_key_required')
}
