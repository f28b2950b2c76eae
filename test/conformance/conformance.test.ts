import { PLATFORMS } from '@trunkline/gateway/src/core/agents/registry.ts'
import type { Dialect } from '@trunkline/gateway/test/agents/dialect.test-support.ts'
import { expect, test } from 'vitest'
import { startEssentialPlatforms } from '../support/platforms.ts'
import { sampled } from '../support/sampled.ts'
import { describeConformance } from './describe-conformance.ts'
import { dialectsIn } from './dialects-in.ts'

// A process, because the guarantees hold from the configuration file to the ledger, which is read after the gateway has stopped.

const folders = new URL('../../apps/gateway/src/core/agents/platforms/', import.meta.url)
const dialects: readonly Dialect[] = await dialectsIn(folders)

test('every registered platform has its dialects in its folder', () => {
  expect(new Set(dialects.map(({ platform }) => platform))).toEqual(new Set(PLATFORMS.names))
})

// The server of LangGraph is not installed for `test`: langgraph.test.ts has the same list for it.
const ofPlatforms = Map.groupBy(dialects, ({ platform }) => platform)
ofPlatforms.delete('langgraph')

describeConformance({
  folders,
  dialects: [...ofPlatforms.values()].flat(),
  // One dialect of each platform in `test`.
  tried: [...ofPlatforms].flatMap(([platform, ofPlatform]) => sampled(ofPlatform, platform)),
  startEmulators: startEssentialPlatforms,
})
