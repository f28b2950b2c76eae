/**
 * The trace that a request belongs to. It is passed on as a value, from the request to its calls and from there to the records of
 * them. Where the gateway does not trace there is none.
 */
export interface RequestTrace extends TraceId {
  /** The part of the trace that belongs to one call of the request, which waits for its end: that it is refused or settled. */
  forCall(): CallTrace
}

export interface CallTrace extends TraceId {
  /** The call is not admitted, or is answered from an earlier one. */
  refused(): void
  /** The headers by which a platform continues the trace below the attempt that is sent. */
  headers(): Readonly<Record<string, string>>
}

interface TraceId {
  /** In hex; undefined if the trace is not recorded. */
  readonly traceId: string | undefined
}

/** What may be traced. */
export interface Traced {
  readonly trace?: CallTrace | undefined
}
