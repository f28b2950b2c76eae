import type { SigningKeyState } from '#core/accounts/auth/signing-key-administration.ts'

/** The record of a signing key, which never contains its private part. */
export function signingKeyRecord({ id, state, createdAt, acceptedUntil, encrypted }: SigningKeyState) {
  return {
    id,
    state,
    created_at: createdAt.toISOString(),
    accepted_until: acceptedUntil?.toISOString() ?? null,
    encrypted,
  }
}
