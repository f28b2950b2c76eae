import type { ErrorReason } from '#core/base/errors/errors.ts'
import type { Traced } from '#core/requests/request-trace.ts'
import type { CallFace, CallKind } from './call-kinds.ts'

/** A call to be admitted. Its texts contain no control characters; the callers of the ledger have checked them. */
export interface Admission extends Traced {
  readonly callId: string
  readonly requestId: string
  readonly keyId: string
  /** SHA-256 of the secret that was presented, in hex. */
  readonly keyHash: string
  /** The client's network address, as {@link canonicalAddress} writes it. */
  readonly address: string
  readonly kind: CallKind
  readonly face: CallFace
  readonly agent: string
  readonly app: string
  readonly endUser: string
  readonly conversation: string
  /** Present for a call with an `Idempotency-Key`. */
  readonly kept?: KeptAdmission
  /** The pause that the request names as the one it answers. It has the form of an id. */
  readonly answers?: string | undefined
  /** The pause that the call answers or gives up, once that has been decided. */
  readonly claims?: string | undefined
}

/** What the ledger notes of a kept call. */
export interface KeptAdmission {
  /** SHA-256 of the `Idempotency-Key`, in hex. */
  readonly keyHash: string
  /** SHA-256 of all that makes a request the same, in hex. */
  readonly fingerprint: string
  readonly stream: boolean
}

export interface Admitted {
  readonly keyId: string
  readonly ownerId: string
  /** The earlier call that the `Idempotency-Key` stands for. The call itself is neither counted nor run then. */
  readonly attachedTo?: string
  /** The id of the open pause that the call has met. It is not admitted before it is decided what it is to that. */
  readonly openPauseId?: string
  /** How often the conversation with this id was deleted before; absent for 0. */
  readonly generation?: number
}

/** A call that is answered from an earlier one with the same `Idempotency-Key`. */
export type AttachedCall = Required<Pick<Admitted, 'keyId' | 'ownerId' | 'attachedTo'>>

/**
 * The answer of the statement; only that for kept calls has `attachedTo`. If `refusal` is set, the other elements may be
 * null.
 */
export type AdmissionAnswer = readonly [
  refusal: ErrorReason | 'pause_open' | null,
  keyId: string,
  ownerId: string,
  maxApiCalls: number,
  attachedTo?: string | null,
  openPauseId?: string | null,
  generation?: number | null,
  quotaPeriod?: string | null,
]

/** A call whose admission is under way. */
export interface PendingAdmission extends Traced {
  readonly admission: Admission
  /** Set when the caller has been rejected because of the deadline; the admission is then no longer sent. */
  isRefused: boolean
  /** Set when the answer of a statement with this call was lost, so that the call may have been counted. */
  mayBeCounted: boolean
  /** What the statement has answered. */
  answer?: AdmissionAnswer | undefined
}

/** An admission as the statement takes it. */
export function admissionRow({ admission }: PendingAdmission, index: number): object {
  const { kept } = admission
  return {
    n: index,
    id: admission.callId,
    request_id: admission.requestId,
    key_id: admission.keyId,
    secret: `\\x${admission.keyHash}`,
    address: admission.address,
    permission: admission.kind,
    kind: admission.kind,
    face: admission.face,
    agent: admission.agent,
    app: admission.app,
    end_user: admission.endUser,
    conversation: admission.conversation,
    answers: admission.answers,
    claims: admission.claims,
    ...(kept !== undefined && {
      idempotency_hash: kept.keyHash,
      fingerprint: kept.fingerprint,
      stream: kept.stream,
    }),
  }
}
