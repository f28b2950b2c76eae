import type { CallOutcome } from '#core/ledger/call-kinds.ts'
import type { Reaper } from '#core/ledger/instances.ts'
import type { KeptCall, KeptCallRef, KeptProblem } from '../kept-call.ts'

/** Consecutive events of one reply, as they are sent: each ends with an empty line. */
export interface StoredPart {
  readonly callId: string
  /** The number of the first event; the first one of a reply is 1. */
  readonly first: number
  readonly count: number
  readonly text: string
}

/** The end of a reply, to be written by the process that ran the call. */
export interface EndOfReply {
  readonly callId: string
  readonly outcome: CallOutcome
  /** The number of the last event; 0 if the log has none, as that of a JSON call. */
  readonly events: number
  readonly status: number
  readonly problem?: KeptProblem | undefined
  /** The JSON reply of the face as text; absent for a call that failed. */
  readonly reply?: string | undefined
  /** Whether the log was lost, so that nothing of it can be read. */
  readonly isLost: boolean
  /** Whether the `Idempotency-Key` is free again. Requests that have waited for this call still read its end. */
  readonly freesKey: boolean
}

/** The request of a reader: the events of a call after that number. */
export interface ReadRequest {
  readonly callId: string
  readonly after: number
}

/** What is stored of a call. */
export interface ReadResult {
  /**
   * In their order and without a gap, at most some 256 KiB; none if nothing more is stored yet. The first one has the event after
   * the requested number, and may begin before it.
   */
  readonly parts: readonly StoredPart[]
  /** It is gone as well if what comes next is missing, or was encrypted with a key that is not known any more. */
  readonly call: KeptCall
}

/** The bounds of what is kept. */
export interface KeptBounds {
  readonly retentionHours: number
  readonly bytesPerOwnerMax: number
  readonly bytesTotalMax: number
}

/** Kept calls and their logs in the database, which is authoritative for every process. */
export interface ReplyStore {
  /**
   * Appends parts of any number of calls in one statement, or in as few as their size allows, which commits asynchronously. Parts
   * of calls that have ended are left out. What failed may be repeated, part by part as it was: a longer part with the same
   * first event would be taken for one that is stored already.
   *
   * @returns the ids of those calls, whose owner must stop them: another process has taken it for dead
   */
  append(parts: readonly StoredPart[]): Promise<readonly string[]>
  /**
   * Ends the reply, together with its last parts, unless it has ended already. Durable when it resolves. The log is lost if an
   * event is missing then, so every {@link ReplyStore.append} of the call must have resolved or failed before, and the parts of
   * those that failed belong to the last ones. It may be repeated after a failure.
   *
   * @returns whether the end that counts is this one, or one that says the same
   */
  end(end: EndOfReply, parts: readonly StoredPart[]): Promise<boolean>
  /** Marks the log of a running call as lost, and deletes what is stored of it. */
  lose(callId: string): Promise<void>
  /** The kept call of this API key; undefined if there is none, or only another key's. */
  find(keyId: string, ref: KeptCallRef): Promise<KeptCall | undefined>
  /** Reads for up to a thousand readers in one statement. The results are in the order of the requests, undefined without a call. */
  read(requests: readonly ReadRequest[]): Promise<readonly (ReadResult | undefined)[]>
  /** The JSON reply of a call that has ended; undefined if it has none or is gone. */
  reply(callId: string): Promise<string | undefined>
  /** Asks the process of a running call to stop it. Does nothing for one that has ended. */
  requestStop(callId: string): Promise<void>
  /** Those of these running calls whose stop was requested, and those that another process has ended. */
  stopped(
    callIds: readonly string[],
  ): Promise<readonly { readonly callId: string; readonly isEnded: boolean }[]>
  /** Notes that these calls have readers, for so long from now by the database's clock. */
  holdReading(callIds: readonly string[], forMs: number): Promise<void>
  /** Those of these calls that have readers in some process. */
  haveReaders(callIds: readonly string[]): Promise<readonly string[]>
  /** Deletes what is stored of an ended reply; its `Idempotency-Key` stays in use. Does nothing for a running call. */
  remove(callId: string): Promise<void>
  /** Counts replays of ended calls in the ledger. What failed may have been counted. */
  countReplays(counts: ReadonlyMap<string, number>): Promise<void>
  /** Ends as interrupted the replies of a bounded number of calls whose process is dead, as this one sees it; returns how many. */
  endDead(by: Reaper): Promise<number>
  /** The same for all calls of other processes, for a process that is the only one of its database. */
  endPredecessors(instanceId: string): Promise<number>
  /** Deletes a bounded number of calls whose retention is over, with their logs and keys; returns how many. */
  sweep(): Promise<number>
  /**
   * Deletes the oldest ended replies of owners, and of all, that take more than they may. Running calls count as well.
   *
   * @returns whether running and new ones leave no room, for all or for these owners
   */
  makeRoom(): Promise<{ readonly isFull: boolean; readonly fullOwners: readonly string[] }>
}
