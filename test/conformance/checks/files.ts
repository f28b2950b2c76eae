import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { WAYS } from '../client.ts'
import { fresh } from '../gateway-with-emulators.ts'
import type { Check } from '../trial.ts'

const HELLO = 'Hello, what is a gateway?'

export const FILES = {
  async 'FILES-01'(trial) {
    const file = newFile()
    const url = await trial.upload(file)
    for (const way of WAYS) {
      const { status, text } = await trial.ask({ ...way, query: HELLO, files: [url] })
      expect([status, text]).toEqual([200, expect.stringContaining(traceOf(file))])
    }
  },

  async 'FILES-02'(trial) {
    const file = newFile()
    const url = await trial.upload(file)
    for (const way of WAYS) {
      const { status, reason } = await trial.ask({ ...way, query: HELLO, files: [url], owner: 'theirs' })
      expect([status, reason]).toEqual([404, 'upload_not_found'])
    }
    expect(trial.requestsWith(file.name)).toEqual([])
  },

  async 'FILES-03'(trial) {
    if (trial.dialect.takesFiles !== 'uploads') trial.exempt('it takes no uploads')
    const file = newFile()
    const files = [await trial.upload(file)]
    for (const user of ['alice', 'bob', 'alice']) {
      const { text } = await trial.ask({ query: HELLO, files, user })
      expect(text).toContain(traceOf(file))
    }
    expect(trial.requestsWith(file.name)).toHaveLength(2)
  },

  async 'FILES-04'(trial) {
    const file = newFile()
    const data = `data:text/plain;base64,${Buffer.from(file.content).toString('base64')}`
    for (const stream of [false, true]) {
      const { status, text, reason, bodies } = await trial.ask({
        face: 'openai',
        stream,
        query: HELLO,
        files: [data],
      })
      if (trial.dialect.takesFiles === 'URLs') {
        const param = 'messages[0].content[1].file.file_data'
        expect([status, reason, bodies[0]?.error]).toEqual([
          ...[400, 'invalid_request', expect.objectContaining({ param })],
        ])
      } else expect([status, text]).toEqual([200, expect.stringContaining(traceOf(file))])
    }
  },
} satisfies Record<string, Check>

interface NewFile {
  readonly name: string
  readonly content: string
}

function newFile(): NewFile {
  const name = fresh()
  return { name: `${name}.txt`, content: `The report of ${name}.` }
}

/** What the emulators say of a file that has reached them. */
function traceOf({ content }: NewFile): string {
  return `(${content.length} bytes, sha256 ${createHash('sha256').update(content).digest('hex')})`
}
