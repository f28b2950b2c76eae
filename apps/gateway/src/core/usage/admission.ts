import { fail, Problem } from '#core/errors.ts'
import type { KeyLimits, KeyLimitsReader } from '#core/keys/key-limits.ts'
import { refuseKey } from '#core/keys/refused-keys.ts'
import type { Limits, LimitVerdict } from '#core/limits/limits.ts'
import type { Admission, Admitted, CallKind, Ledger } from './ledger.ts'

/** A call that wants in, and where it comes from. */
export interface AdmissionRequest extends Admission {
  /** The client's address, under which refused keys are counted. */
  readonly address: string
}

/** How calls of every kind get in. */
export interface AdmissionService {
  /**
   * Takes a point from the limiter that has the name of the call's kind, then has the ledger judge the key and count the
   * call. Rejects with a {@link Problem}: 401 for a key that is not good, which counts against its address, 403 or 429. A
   * point stays taken where the ledger refuses the call.
   *
   * @param onLimit - gets where the caller stands in its window, whatever comes of the call
   */
  admit(request: AdmissionRequest, onLimit: (verdict: LimitVerdict) => void): Promise<Admitted>
}

export interface AdmissionDeps {
  readonly limits: Pick<Limits, CallKind | 'refusedKeys'>
  readonly keyLimits: KeyLimitsReader
  readonly ledger: Pick<Ledger, 'admit'>
}

/** The key's own limit for each kind of call, which may be lower than the one of the configuration. */
const OWN_LIMIT: Readonly<Record<CallKind, keyof KeyLimits>> = {
  chat: 'chatPerMinute',
  upload: 'uploadPerMinute',
}

/** The limiter stands in front of the database, keyed by the key's hash: a key that is over its limit costs no statement. */
export function createAdmission({ limits, keyLimits, ledger }: AdmissionDeps): AdmissionService {
  return {
    async admit(request, onLimit) {
      const { kind, keyHash } = request
      try {
        const own = (await keyLimits(keyHash)) ?? fail('key_unknown')
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
