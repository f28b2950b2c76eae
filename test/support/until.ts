const ASK_EVERY_MS = 20

/** Polls until the result is truthy, for conditions that emit no event. Throws after the deadline with the last result. */
export async function until<Answer>(
  what: string,
  ask: () => Promise<Answer> | Answer,
  withinMs = 30_000,
): Promise<Exclude<Answer, false | null | undefined>> {
  const deadlineMs = performance.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (answer) return answer as Exclude<Answer, false | null | undefined>
    if (performance.now() > deadlineMs) throw new Error(`not within ${withinMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
  }
}
