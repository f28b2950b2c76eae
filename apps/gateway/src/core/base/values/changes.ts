/** Passes a state on when it changes; it begins with true. */
export function changes(
  observe: (state: boolean, error?: unknown) => void,
): (state: boolean, error?: unknown) => void {
  let last = true
  return (state, error) => {
    if (state !== last) observe(state, error)
    last = state
  }
}
