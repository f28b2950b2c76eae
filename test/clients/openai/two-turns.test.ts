import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

// A process, because the script is a program to be run by hand, and starts a gateway itself.

test('the two-turn script reports that every platform remembers the first turn in every way of calling', async () => {
  const script = new URL('../support/two-turns.ts', import.meta.url).pathname
  const child = spawn(process.execPath, ['--conditions=@trunkline/source', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect(output).toContain('All remember the first turn.')
  expect(output.match(/remembers/g)).toHaveLength(30)
  expect(code).toBe(0)
})
