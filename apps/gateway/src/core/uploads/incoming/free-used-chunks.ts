import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Each collection takes a millisecond or two, and so many bytes take longer than that to arrive, hash and store. */
const COLLECT_AFTER_BYTES = 8 * 1024 * 1024

let arrived = 0

/**
 * Must be called with the size of each chunk of a file that has arrived. It starts a collection of V8's young generation now and then,
 * which frees the chunks that have been stored. The content of a chunk is outside of V8's heap, so V8 itself would collect only
 * after 64 MiB of them: with ten uploads at once that, instead of 10 MiB, is what the process would hold beyond its idle size.
 */
export function freeUsedChunks(bytes: number): void {
  arrived += bytes
  if (arrived < COLLECT_AFTER_BYTES) return
  arrived = 0
  collectYoungGeneration()
}

/** Node offers the function to processes that were started with `--expose-gc`, and otherwise in this way. */
function exposedGc(): () => void {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as (options: { type: 'minor' }) => void
  return () => gc({ type: 'minor' })
}

const collectYoungGeneration = exposedGc()
