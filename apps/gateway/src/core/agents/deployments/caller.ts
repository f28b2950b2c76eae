/** Whose call it is. Neither of the two can be invented by a client, unlike the end user that a call names. */
export interface Caller {
  /** The id of the user whom the API key belongs to. */
  readonly owner: string
  /** The hash of the API key. */
  readonly key: string
}
