import { expect, test } from 'vitest'
import { freeUsedChunks } from './free-used-chunks.ts'

const MIB = 1024 * 1024
const CHUNK_BYTES = 65_536

test('the chunks of large files are freed while further ones arrive', () => {
  const idle = process.memoryUsage().arrayBuffers
  let most = 0
  for (let bytes = 0; bytes < 256 * MIB; bytes += CHUNK_BYTES) {
    freeUsedChunks(Buffer.allocUnsafeSlow(CHUNK_BYTES).length)
    most = Math.max(most, process.memoryUsage().arrayBuffers - idle)
  }
  expect(most).toBeLessThan(24 * MIB)
})
