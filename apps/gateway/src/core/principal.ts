import { fail } from './errors.ts'

export const ROLES = ['admin', 'premium', 'user'] as const
export type Role = (typeof ROLES)[number]

export const PERMISSIONS = ['chat', 'upload', 'admin'] as const
export type Permission = (typeof PERMISSIONS)[number]

/** Who calls a management route: a user by access token, or a user by an API key that acts for its owner. */
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

export function isAdmin(caller: Principal): boolean {
  return caller.role === 'admin'
}

export function requireAdmin(caller: Principal): void {
  if (!isAdmin(caller)) fail('role_denied', 'This needs the role admin.')
}
