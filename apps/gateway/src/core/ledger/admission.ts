import { AMPLE_SPACE, type DiskSpace } from '#core/disk/disk-space.ts'
import { fail, Problem } from '#core/errors.ts'
import type { KeyLimitsReader } from '#core/keys/key-limits.ts'
import { refuseKey } from '#core/keys/refused-keys.ts'
import type { Limits, OnLimit } from '#core/limits/limits.ts'
import type { Admission, Admitted, CallKind, Ledger } from './ledger.ts'

/** A call to be admitted, and its origin. */
export interface AdmissionRequest extends Admission {
  /** The client's network address, by which refused keys are counted. */
  readonly address: string
}

/** Admits calls of every kind. */
export interface AdmissionService {
  /**
   * Takes a point from the rate limit for the call's kind, and then lets the ledger check the key and count the call. The
   * point is not given back if the ledger rejects the call.
   *
   * @param onLimit - receives the state of the caller's rate limit, whether or not the call is then rejected
   * @param onOwner - receives the owner of the key before anything is counted; the call is rejected with what it throws
   * @throws Problem with status 401 for an invalid key, which counts against its address; 403, 429, or `unavailable`
   */
  admit(request: AdmissionRequest, onLimit: OnLimit, onOwner?: (ownerId: string) => void): Promise<Admitted>
}

export interface AdmissionDeps {
  readonly limits: Pick<Limits, CallKind | 'refusedKeys'>
  readonly keyLimits: KeyLimitsReader
  readonly ledger: Pick<Ledger, 'admit'>
  /** Defaults to {@link AMPLE_SPACE}. */
  readonly space?: Pick<DiskSpace, 'requireSpace'>
}

/** The field with a key's own limit for each kind of call, which may be lower than the configured one. */
const OWN_LIMIT: Readonly<Record<CallKind, 'chatPerMinute' | 'uploadPerMinute'>> = {
  chat: 'chatPerMinute',
  upload: 'uploadPerMinute',
}

/** The rate limit is checked before the database and counts by the key's hash, so that a key over its limit costs no statement. */
export function createAdmission({
  limits,
  keyLimits,
  ledger,
  space = AMPLE_SPACE,
}: AdmissionDeps): AdmissionService {
  return {
    async admit(request, onLimit, onOwner) {
      const { kind, keyHash } = request
      try {
        const own = (await keyLimits(keyHash)) ?? fail('key_unknown')
        space.requireSpace()
        onOwner?.(own.ownerId)
        const verdict = await limits[kind].take(keyHash, own[OWN_LIMIT[kind]])
        onLimit(verdict)
        if (!verdict.allowed) fail('rate_limited', { retryAfterSeconds: verdict.resetSeconds })
        return await ledger.admit(request)
      } catch (error) {
        if (error instanceof Problem && error.status === 401)
          return await refuseKey(limits, request.address, error)
        throw error
      }
    },
  }
}
