import type { KeyLimits, KeyLimitsReader } from '#core/accounts/keys/key-limits.ts'
import { refuseKey } from '#core/accounts/keys/refused-keys.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { fail, Problem } from '#core/base/errors/errors.ts'
import { problemOf } from '#core/base/errors/problem-of.ts'
import { AMPLE_SPACE, DISK_FULL, type DiskSpace } from '#core/database/disk/disk-space.ts'
import type { Admission, Admitted, AttachedCall } from '#core/ledger/admission-row.ts'
import type { CallKind } from '#core/ledger/call-kinds.ts'
import type { ClaimLookUp } from '#core/ledger/kept-claims.ts'
import type { Ledger } from '#core/ledger/ledger.ts'
import { exceeded, type Limits } from '#core/limits/limits.ts'
import { addressDetail, canonicalAddress, isAllowedAddress } from '#core/requests/allowed-addresses.ts'
import type { CallObserver, CallRecord } from './call-events.ts'
import type { CallSlot } from './call-slot.ts'
import type { Place } from './places.ts'

/** A call to be admitted, and its origin. */
export interface AdmissionRequest extends Omit<Admission, 'keyId'> {
  /** Whether the call belongs to a conversation that its client can go on with. */
  readonly isListed?: boolean
  /** The name that the conversation gets if it begins with this call. */
  readonly conversationName?: string | undefined
  /**
   * Decides what the call is to the open pause that its admission has met, and returns how it is to be admitted then. The slot has
   * been taken. Absent for uploads, which meet none.
   *
   * @throws Problem if the call is none of what the pause waits for
   */
  readonly meet?: (pauseId: string, ownerId: string) => Promise<Pick<Admission, 'claims' | 'conversation'>>
}

/** A call that dies with its client, and is never attached to another one. */
export interface EphemeralRequest extends AdmissionRequest {
  readonly kept?: never
}

export interface AdmissionOptions {
  /** Taken before anything is counted. */
  readonly place?: Pick<Place, 'takeFor'>
  /** Taken after the rate limit, before the ledger counts the call. */
  readonly slot?: Pick<CallSlot, 'takeFor'>
  /** Follows this call until it is admitted; those of the process follow all calls. */
  readonly observer?: CallObserver | undefined
}

export interface AdmittedCall extends Admitted {
  readonly record: CallRecord
  readonly attachedTo?: never
}

/** Admits calls of every kind. */
export interface AdmissionService {
  /**
   * Takes the call's place in the process, then a point from the rate limit for the call's kind, and then lets the ledger
   * check the key and count the call. If the ledger rejects the call, the point is not given back, and the caller releases
   * the place.
   *
   * A call whose `Idempotency-Key` stands for an earlier one is attached to that. If this is known before, the call needs neither
   * slot nor ledger; otherwise the ledger finds it, and the slot is given back by its holder.
   *
   * @throws Problem with status 401 for an invalid key, which counts against its address; 403, 429, or `unavailable`;
   * `idempotency_mismatch` if the earlier call was asked something else
   */
  admit(request: EphemeralRequest, options?: AdmissionOptions): Promise<AdmittedCall>
  admit(request: AdmissionRequest, options?: AdmissionOptions): Promise<AdmittedCall | AttachedCall>
}

export interface AdmissionDeps {
  readonly limits: Pick<Limits, CallKind | 'refusedKeys'>
  readonly keyLimits: KeyLimitsReader
  readonly lookUpClaim: ClaimLookUp
  readonly ledger: Pick<Ledger, 'admit'>
  readonly observe: CallObserver
  /** Defaults to {@link AMPLE_SPACE}. */
  readonly space?: Pick<DiskSpace, 'isLow'>
}

/** The field with a key's own limit for each kind of call, which may be lower than the configured one. */
const OWN_LIMIT: Readonly<Record<CallKind, 'chatPerMinute' | 'uploadPerMinute'>> = {
  chat: 'chatPerMinute',
  upload: 'uploadPerMinute',
}

/** The rate limit is checked before the database and counts by the key's id, so that a key over its limit costs no statement. */
export function createAdmission(deps: AdmissionDeps): AdmissionService {
  const { limits, keyLimits, lookUpClaim, ledger, observe, space = AMPLE_SPACE } = deps

  function admit(request: EphemeralRequest, options?: AdmissionOptions): Promise<AdmittedCall>
  function admit(request: AdmissionRequest, options?: AdmissionOptions): Promise<AdmittedCall | AttachedCall>
  async function admit(
    request: AdmissionRequest,
    { place, slot, observer }: AdmissionOptions = {},
  ): Promise<AdmittedCall | AttachedCall> {
    const { callId, requestId, kind, face, keyHash, address, kept, trace, isListed, conversationName } =
      request
    const { agent } = request
    let own: KeyLimits | undefined
    try {
      own = (await keyLimits(keyHash, address)) ?? fail('key_unknown')
      // Before the limit, whose points a stolen secret would use up for those who may use the key.
      if (own.invalid === 'key_rotated') fail('key_rotated')
      if (
        own.allowedAddresses.length > 0 &&
        own.invalid === null &&
        !isAllowedAddress(own.allowedAddresses, address)
      )
        fail('address_denied', addressDetail(address))
      if (space.isLow) fail('unavailable', DISK_FULL)
      place?.takeFor(own)
      const verdict = await limits[kind].take(own.keyId, own[OWN_LIMIT[kind]])
      const limited = { type: 'limited', call: request, verdict } as const
      observe(limited)
      observer?.(limited)
      if (!verdict.allowed) throw exceeded(verdict)
      const admission = { ...request, keyId: own.keyId, address: canonicalAddress(address) }
      const attached = kept && (await lookUpClaim({ ...admission, kept }))
      if (attached !== undefined) return attached
      const taking = markRejectionHandled(slot?.takeFor(own))
      if (taking !== undefined) await taking
      const { keyId, ownerId, attachedTo, generation } = await admitPast(admission)
      if (attachedTo !== undefined) return { keyId, ownerId, attachedTo }
      // A copy, since the request is larger and this is kept until the call ends.
      const listed = { isListed, ...(conversationName !== undefined && { conversationName }) }
      const record: CallRecord = { callId, requestId, kind, face, agent, trace, ...listed }
      const admitted = { type: 'admitted', call: record } as const
      observe(admitted)
      observer?.(admitted)
      return { record, keyId, ownerId, ...(generation !== undefined && { generation }) }
    } catch (error) {
      const problem = refusal(error, request, own)
      if (problem.status === 401) return await refuseKey(limits, request.address, problem)
      throw problem
    }
  }

  /** Admits a call, also past the pause that it meets. */
  async function admitPast(request: AdmissionRequest & Admission): Promise<Admitted> {
    try {
      let answer = await ledger.admit(request)
      while (answer.openPauseId !== undefined) {
        if (request.meet === undefined) throw new Error('an upload has met a pause')
        const { answers: _named, ...admission } = request
        answer = await ledger.admit({
          ...admission,
          ...(await request.meet(answer.openPauseId, answer.ownerId)),
        })
      }
      return answer
    } catch (error) {
      // The same request may have come in time: it is known by its key since it has answered the pause.
      const { kept } = request
      const isLate = kept !== undefined && error instanceof Problem && error.reason === 'pause_over'
      const attached = isLate ? await lookUpClaim({ ...request, kept }) : undefined
      if (attached === undefined) throw error
      return attached
    }
  }

  return { admit }
}

function refusal(error: unknown, { agent }: AdmissionRequest, own: KeyLimits | undefined): Problem {
  return problemOf(error).refusing({ ...(own && { keyId: own.keyId, ownerId: own.ownerId }), agent })
}
