import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operationOf } from '../support/contract/contract.ts'
import { type ContractGateway, startContractGateway } from '../support/contract/contract-gateway.ts'
import { expectDocumented } from '../support/contract/expect-documented.ts'
import { FILE_PART, type FormPart, formOf, LABEL_PART } from '../support/contract/form.ts'
import { partTexts } from '../support/contract/hostile-values.ts'
import { exchange } from '../support/contract/raw.ts'
import type { Answer } from '../support/contract/send.ts'
import { filesIn } from '../support/files-in.ts'
import { until } from '../support/until.ts'

// A process, because a form that crashes or stalls the gateway must fail a test and not end the run.

/** As in `fuzz.test.ts`: the short run uses a fixed seed. */
const SOAK = process.env.SOAK !== undefined
const OPTIONS = SOAK ? { numRuns: 10_000 } : { numRuns: 500, seed: 20_261_122 }
const TIMEOUT_MS = SOAK ? 30 * 60_000 : 120_000

const UPLOAD = operationOf('upload')

let gateway: ContractGateway
beforeAll(async () => {
  gateway = await startContractGateway()
})
afterAll(() => gateway?.remove())

/** Mostly the parts of an upload, each of them whole or with a hostile name, type or content. */
const part: fc.Arbitrary<FormPart> = fc
  .tuple(
    fc.constantFrom(FILE_PART, FILE_PART, LABEL_PART, LABEL_PART, { content: 'x' }),
    fc.oneof(
      { weight: 2, arbitrary: fc.constant({}) },
      {
        weight: 1,
        arbitrary: fc.record(
          {
            name: fc.oneof(fc.constantFrom('file', 'created_by', 'end_user', 'constructor'), partTexts()),
            filename: partTexts(),
            type: fc.oneof(
              fc.constantFrom('application/json', 'application/octet-stream', 'text/plain; charset=utf-16le'),
              partTexts(),
            ),
            lines: fc.array(
              fc.oneof(
                fc.constantFrom('Content-Transfer-Encoding: base64', 'Content-Disposition: x', ' folded', ''),
                partTexts(),
              ),
              { maxLength: 25 },
            ),
            content: fc.oneof(fc.uint8Array({ maxLength: 2_000 }).map(Buffer.from), partTexts()),
          },
          { requiredKeys: [] },
        ),
      },
    ),
  )
  .map(([usual, hostile]) => ({ ...usual, ...hostile }))

const boundary = fc.oneof(
  { weight: 6, arbitrary: fc.constant('boundary-of-tests') },
  { weight: 1, arbitrary: fc.constantFrom('-', '--', "'()+_,-./:=?", 'b'.repeat(70), 'b'.repeat(300)) },
  { weight: 1, arbitrary: fc.stringMatching(/^[!-~]{1,80}$/) },
)

/** What happens to the bytes on their way: mostly nothing, else a part of them is lost, repeated or overwritten. */
const damage = fc.oneof(
  { weight: 3, arbitrary: fc.constant((bytes: Buffer) => bytes) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom('cut', 'repeat', 'lose', 'overwrite'),
      )
      .map(([one, other, kind]) => (bytes: Buffer) => {
        const [from = 0, to = 0] = [one, other]
          .map((share) => Math.floor(share * bytes.length))
          .sort((a, b) => a - b)
        const [head, middle, tail] = [bytes.subarray(0, from), bytes.subarray(from, to), bytes.subarray(to)]
        switch (kind) {
          case 'cut':
            return head
          case 'repeat':
            return Buffer.concat([head, middle, middle, tail])
          case 'lose':
            return Buffer.concat([head, tail])
          default:
            return Buffer.concat([head, Buffer.alloc(middle.length, '\r\n-'), tail])
        }
      }),
  },
)

const form = fc
  .record({ parts: fc.array(part, { maxLength: 5 }), boundary, damage })
  .map(({ parts, boundary: text, damage: change }) => {
    const { body, headers } = formOf(parts, text)
    return { headers, body: change(body) }
  })

test(
  'no form causes an internal error or a hang, and nothing remains of a refused one',
  async () => {
    await fc.assert(
      fc.asyncProperty(form, async ({ body, headers }) => {
        expectUnderstood(await gateway.send('upload', { as: gateway.uploadKey, headers, body }))
      }),
      OPTIONS,
    )
    await expectNothingLeft()
  },
  TIMEOUT_MS,
)

test(
  'no form whose client leaves causes an internal error, and nothing remains of it',
  async () => {
    await fc.assert(
      fc.asyncProperty(form, fc.boolean(), async ({ body, headers }, isChunked) => {
        const lines = [
          'POST /api/v1/upload HTTP/1.1',
          'Host: localhost',
          `Authorization: Bearer ${gateway.uploadKey}`,
          `Content-Type: ${headers['content-type']}`,
          isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length + 100}`,
        ]
        const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
        const framed = isChunked
          ? Buffer.concat([Buffer.from(`${(body.length + 100).toString(16)}\r\n`), body])
          : body
        const { status, text } = await exchange(gateway.url, Buffer.concat([head, framed]), { end: true })
        // Without an answer there is no status.
        if (status >= 500) throw new Error(`answered ${status}: ${text}`)
      }),
      OPTIONS,
    )
    await expectNothingLeft()
  },
  TIMEOUT_MS,
)

function expectUnderstood(answer: Answer): void {
  if (answer.status >= 500) throw new Error(`answered ${answer.status}: ${answer.text}`)
  expectDocumented(UPLOAD, answer)
  // The gateway must not wait for more of a form that has arrived as a whole.
  expect(answer.text).not.toMatch(/stopped arriving|to arrive/)
}

/** Deletes the uploads that were accepted, after which no file may exist. */
async function expectNothingLeft(): Promise<void> {
  for (;;) {
    const { body } = await gateway.send('listUploads', { as: gateway.uploadKey, query: 'limit=100' })
    if (body.data.items.length === 0) break
    for (const { id } of body.data.items) {
      expect((await gateway.send('deleteUpload', { as: gateway.uploadKey, id })).status).toBe(200)
    }
  }
  // A client that has left gets no answer to wait for.
  await until('there is no file', async () => (await filesIn(gateway.filesFolder)).length === 0)
}
