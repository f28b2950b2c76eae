import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { parseFaults } from '../replies/faults.ts'
import { Runs } from '../serving/runs.ts'
import { SeenLog } from '../serving/seen.ts'
import { difyErrors, difyJson } from './errors.ts'
import { FlowRun } from './flow-runs.ts'
import { type Form, formsOf } from './human-input.ts'
import type { FlowPart } from './workflow-script.ts'

/** A response whose reader does not read on before it says so. */
class SlowResponse extends EventEmitter {
  readonly destroyed = false
  readonly written: string[] = []

  writeHead(): void {}

  write(chunk: string): boolean {
    this.written.push(chunk)
    return false
  }

  end(chunk: string): void {
    this.written.push(chunk, 'end')
  }
}

test('the second of two forms waits until a slow reader has got what the first one has caused', async () => {
  const runs = new Runs(new SeenLog())
  const run = runs.begin({ id: 'task', conversationId: '', query: '' })
  const names = (forms: readonly Form[]) => forms.map(({ nodeId }) => nodeId).join()
  const faults = parseFaults('')
  const flow = new FlowRun(
    {
      kind: 'workflow',
      user: 'ada',
      workflowRunId: 'run',
      pauses: formsOf('both', '', 0),
      faults,
      fragments: [],
      playback: { serverError: difyErrors.server, delayMs: 0 },
      script: ({ answered, waiting }: FlowPart) => ({
        streamHeaders: {},
        opening: () => `answered: ${names(answered)}`,
        fragment: (text) => text,
        closing: () => `waiting: ${names(waiting)}`,
        failure: () => 'failed',
        heartbeat: () => 'ping',
        blocking: () => difyJson(200, {}),
        blockingFailure: () => difyErrors.server,
      }),
      finished: () => 'finished',
    },
    run,
    runs,
  )
  run.suspend()
  const response = new SlowResponse()
  flow.listen(response as unknown as ServerResponse)
  const answers = flow.firstPart.waiting.map((form) => {
    const [action] = form.actions
    return action && flow.answer(form, { action, inputs: {}, shown: {} })
  })
  await nextTurn()
  const begun = ['event: ping\n\n', 'answered: human-input-1']
  expect(response.written).toEqual(begun)
  response.emit('drain')
  await Promise.all(answers)
  // The part ends the stream of those that listen; nobody hears the next one.
  expect(response.written).toEqual([...begun, 'waiting: human-input-2', 'end'])
  expect(run.state).toBe('finished')
})
