/**
 * The trace that a request and its calls belong to. It is passed on as a value, from the request to its calls and from there to the
 * records of them. Where the gateway does not trace there is none.
 */
export interface RequestTrace {
  /** In hex; undefined if the trace is not recorded. */
  readonly traceId: string | undefined
  /** The headers by which a platform continues the trace below the attempt that this call sends. */
  headers(callId: string): Readonly<Record<string, string>>
}

/** What may be traced. */
export interface Traced {
  readonly trace?: RequestTrace | undefined
}
