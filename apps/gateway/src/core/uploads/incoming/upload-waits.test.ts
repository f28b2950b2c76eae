import { expect, test } from 'vitest'
import { Problem } from '#core/base/errors/errors.ts'
import { UploadEnded, UploadWaits } from './upload-waits.ts'

test('work that begins after the upload has ended rejects with its end, and its own failure is handled', async () => {
  const waits = new UploadWaits({ stalledMs: 60_000, timeoutMs: 60_000 })
  const end = new UploadEnded('client_gone', new Problem('invalid_request'))
  waits.end(end)
  // Vitest reports a rejection that nothing handles.
  await expect(waits.until(Promise.reject(new Error('the storage was aborted')))).rejects.toBe(end)
  await expect(waits.forClient(Promise.reject(new Error('the form was cut')))).rejects.toBe(end)
  waits.close()
})
