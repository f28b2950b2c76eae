import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDocuments } from './documents.ts'

const ME = '{ me { id } }'
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
const persisted = (text: string) => ({
  extensions: { persistedQuery: { version: 1, sha256Hash: hashOf(text) } },
})

describe('any document', () => {
  test('is executed, and a hash alone is refused so that clients send no further ones', async () => {
    const { find } = await createDocuments({ documents: 'any' })
    expect(find({ query: ME })).toEqual({ query: ME })
    expect(() => find(persisted(ME))).toThrow(
      expect.objectContaining({ detail: 'PersistedQueryNotSupported' }),
    )
  })
})

describe('persisted documents', () => {
  const missing = expect.objectContaining({ reason: 'document_not_found', detail: 'PersistedQueryNotFound' })

  test('are never kept under the hash of another, and found under their own in any case of letters', async () => {
    const { find } = await createDocuments({ documents: 'persisted' })
    const wrong = expect.objectContaining({ reason: 'invalid_request' })
    expect(() => find({ query: '{ users { nodes { id } } }', ...persisted(ME) })).toThrow(wrong)
    expect(() => find(persisted(ME))).toThrow(missing)
    expect(find({ query: ME, ...persisted(ME) }).query).toBe(ME)
    expect(find({ documentId: `sha256:${hashOf(ME).toUpperCase()}` }).query).toBe(ME)
  })

  test('are executed and take no memory if they are long', async () => {
    const { find } = await createDocuments({ documents: 'persisted' })
    const long = `{ me { id } } #${'x'.repeat(20_000)}`
    expect(find({ query: long, ...persisted(long) }).query).toBe(long)
    expect(() => find(persisted(long))).toThrow(missing)
  })
})

describe('trusted documents', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trusted-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  async function trusting(content: string) {
    const trustedDocuments = join(folder, 'persisted-documents.json')
    writeFileSync(trustedDocuments, content)
    return (await createDocuments({ documents: 'trusted', trustedDocuments })).find
  }

  test('are also those of the console that the gateway serves', async () => {
    const trustedDocuments = join(folder, 'persisted-documents.json')
    writeFileSync(trustedDocuments, '{}')
    const consoleDocuments = { [hashOf(ME)]: ME }
    const { find } = await createDocuments({ documents: 'trusted', trustedDocuments, consoleDocuments })
    expect(find({ query: ME }).query).toBe(ME)
    expect(find(persisted(ME)).query).toBe(ME)
    expect(() => find({ query: '{ users { nodes { id } } }' })).toThrow(
      expect.objectContaining({ reason: 'document_not_trusted' }),
    )
  })

  test('are the only ones that are executed, named in either way or sent whole', async () => {
    const find = await trusting(JSON.stringify({ [hashOf(ME)]: ME }))
    expect(find(persisted(ME)).query).toBe(ME)
    for (const documentId of [hashOf(ME), `sha256:${hashOf(ME)}`]) {
      expect(find({ documentId, variables: {} })).toMatchObject({ query: ME, variables: {} })
    }
    expect(find({ query: ME }).query).toBe(ME)
    const other = '{ users { nodes { id } } }'
    expect(() => find({ query: other })).toThrow(expect.objectContaining({ reason: 'document_not_trusted' }))
    // What counts is the document of the file, whatever is sent beside its hash.
    expect(find({ query: other, ...persisted(ME) }).query).toBe(ME)
    expect(() => find(persisted(other))).toThrow(expect.objectContaining({ reason: 'document_not_found' }))
  })

  test('a file that cannot be used is an error of the operator, with its path', async () => {
    await expect(trusting('{')).rejects.toThrow(/persisted-documents.json is not valid JSON/)
    await expect(trusting('[]')).rejects.toThrow(/is not an object of ids and documents/)
    await expect(trusting('{"a": 1}')).rejects.toThrow(/is not an object of ids and documents/)
    const at = (name: string) =>
      createDocuments({ documents: 'trusted', trustedDocuments: resolve(folder, name) })
    await expect(at('none')).rejects.toThrow(/cannot be read/)
    await expect(at('/dev/zero')).rejects.toThrow(
      '/dev/zero cannot be read: it is a pipe, a socket or a device',
    )
  })
})
