/** Waits for the work, at most so long. It keeps the process alive, in which a shutdown may have left nothing else that does. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: isLate, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  try {
    await Promise.race([work, isLate])
  } finally {
    clearTimeout(timer)
  }
}
