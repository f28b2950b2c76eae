/** What the gateway answers to an operation, and what an item of a subscription is. */
export interface GraphqlResult {
  readonly data?: unknown
  readonly errors?: readonly GraphqlResultError[]
}

export interface GraphqlResultError {
  readonly message: string
  readonly extensions?:
    | { code?: unknown; status?: unknown; fields?: unknown; requestId?: unknown; retryAfterSeconds?: unknown }
    | undefined
}
