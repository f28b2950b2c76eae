/** Replaces the credentials of a request in a text that its failure shows. */
export type Hide = (text: string) => string

/**
 * Returns the error behind a failure, as far as it may be shown: some implementations of `fetch` add the request to their errors,
 * and with it the credential. Of such an error the text is left.
 */
export function shownCause(error: unknown, hide: Hide = (text) => text): unknown {
  function isShowable(value: unknown, depth = 0): boolean {
    const object = Object(value)
    if (object !== value) return hide(String(value)) === String(value)
    const isPlain = value instanceof Error || [Array, Object].includes(object.constructor)
    return isPlain && depth < 5 && Reflect.ownKeys(object).every((key) => isShowable(object[key], depth + 1))
  }

  return isShowable(error) ? error : hide(String(error))
}
