/** A reply together with the response that carried it; the body of the response is already read. */
export interface WithResponse<T> {
  /** The reply. */
  readonly data: T
  /** The response, for its status and headers. */
  readonly response: Response
  /** The id under which the operator of the gateway finds the request. */
  readonly requestId: string | undefined
}

/** A promise of a reply that can also tell the headers it came with. */
export interface ApiPromise<T> extends Promise<T> {
  /**
   * Resolves to the reply with the response that carried it.
   *
   * @example
   * ```ts
   * const { data, response, requestId } = await client.agents.list().withResponse()
   * console.log(data.items.length, response.headers.get('ratelimit'), requestId)
   * ```
   */
  withResponse(): Promise<WithResponse<T>>
}

/** One page of a list. */
export interface Page<T> {
  /** The items of this page. */
  readonly items: T[]
  /** The `cursor` of the next page; null on the last one. */
  readonly next_cursor: string | null
}

/** A promise of the first page of a list; `for await` yields the items of all pages, each requested when it is needed. */
export interface ListPromise<T> extends ApiPromise<Page<T>>, AsyncIterable<T> {}

export function apiPromise<T>(result: Promise<WithResponse<T>>): ApiPromise<T> {
  const data = result.then(({ data }) => data)
  return Object.assign(data, {
    withResponse() {
      // The caller handles the other promise; this one would be reported as unhandled.
      data.catch(() => {})
      return result
    },
  })
}

export function listPromise<T>(
  readPage: (cursor: string | undefined) => ApiPromise<Page<T>>,
): ListPromise<T> {
  const first = readPage(undefined)
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      for (let page = await first; ; page = await readPage(page.next_cursor)) {
        yield* page.items
        if (page.next_cursor === null) return
      }
    },
  })
}
