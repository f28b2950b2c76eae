import { chatBody } from '../api.ts'
import { chatRequest, completionRequest, responseRequest } from './chat-provocations.ts'
import type { ContractGateway, OperationRequest } from './contract-gateway.ts'
import { formOf, LABEL_PART, uploadForm } from './form.ts'
import { only, type Provocation } from './provocation.ts'

export function uploadRequest(
  { uploadKey }: ContractGateway,
  content: string | Buffer = 'Hello',
): OperationRequest & { headers: Record<string, string> } {
  const { headers, body } = uploadForm(content)
  return { as: uploadKey, headers: { ...headers, agent: 'fastgpt' }, body }
}

/** The record of a new upload. */
export async function uploadedFile(gateway: ContractGateway): Promise<{ id: string; url: string }> {
  const { status, body, text } = await gateway.send('upload', uploadRequest(gateway))
  if (status !== 200) throw new Error(`uploading returned ${status}: ${text}`)
  return body.data
}

/** A request for the file of a new upload. */
export async function fileRequest(gateway: ContractGateway): Promise<OperationRequest & { id: string }> {
  const { url } = await uploadedFile(gateway)
  return { id: new URL(url).pathname.replace('/files/', '') }
}

/** The token and the name of a file that does not exist. */
export const UNKNOWN_FILE = `${'A'.repeat(43)}/note.txt`

async function keyOf(gateway: ContractGateway, more: Record<string, unknown>): Promise<string> {
  return (await gateway.api.createKey(gateway.token, { permissions: ['upload'], ...more })).full_key
}

/** The URL of another user's upload. */
async function foreignUrl(gateway: ContractGateway): Promise<string> {
  const { id } = await gateway.api.createUser(gateway.token, gateway.fresh())
  const as = await keyOf(gateway, { owner_id: id })
  return (await gateway.send('upload', { ...uploadRequest(gateway), as })).body.data.url
}

/** Statuses that the operations of uploads document, and those of chats about files. */
export const UPLOAD_PROVOCATIONS: readonly Provocation[] = [
  only('upload', 400, 'invalid_request', 'a form without a file', (good) => ({
    ...good,
    ...formOf([LABEL_PART]),
  })),
  only('upload', 400, 'unknown_agent', 'an unknown agent', (good) => ({
    ...good,
    headers: { ...good.headers, agent: 'nobody' },
  })),
  only('upload', 401, 'api_key_required', 'an access token', (good, gateway) => ({
    ...good,
    as: gateway.token,
  })),
  only('upload', 403, 'permission_denied', 'a key with the permission chat alone', (good, gateway) => ({
    ...good,
    as: gateway.key.full_key,
  })),
  only('upload', 403, 'agent_denied', 'a key for another agent', async (good, gateway) => ({
    ...good,
    as: await keyOf(gateway, { allowed_agents: ['openai'] }),
  })),
  only('upload', 413, 'body_too_large', 'a file over the limit', (_good, gateway) =>
    uploadRequest(gateway, 'x'.repeat(gateway.fileBytesMax + 1)),
  ),
  only('upload', 413, 'body_too_large', 'a form that is mostly not the file', (good) => ({
    ...good,
    ...formOf([{ ...LABEL_PART, content: 'x'.repeat(1024 * 1024) }]),
  })),
  only(
    'upload',
    413,
    'upload_space_used_up',
    'a user whose uploads take all its space',
    async (good, gateway) => {
      const { id } = await gateway.api.createUser(gateway.token, gateway.fresh())
      const as = await keyOf(gateway, { owner_id: id })
      const large = { ...uploadRequest(gateway, 'x'.repeat(gateway.fileBytesMax)), as }
      for (let bytes = 0; bytes < gateway.fileBytesPerOwnerMax; bytes += gateway.fileBytesMax) {
        await gateway.send('upload', large)
      }
      return { ...good, as }
    },
  ),
  only('upload', 415, 'file_type_not_accepted', 'a program', (_good, gateway) =>
    uploadRequest(gateway, Buffer.from('7f454c4602010100', 'hex')),
  ),
  only('upload', 429, 'rate_limited', "one upload more than the key's limit", async (good, gateway) => {
    const again = { ...good, as: await keyOf(gateway, { limits: { upload_per_minute: 1 } }) }
    await gateway.send('upload', again)
    return again
  }),

  only('getFile', 206, undefined, 'a range', (good) => ({ ...good, headers: { range: 'bytes=1-2' } })),
  only('getFile', 304, undefined, 'a client that has it', async (good, gateway) => {
    const { headers } = await gateway.send('getFile', good)
    return { ...good, headers: { 'if-none-match': headers.etag ?? '' } }
  }),
  only('getFile', 404, 'upload_not_found', 'an unknown token', () => ({ id: UNKNOWN_FILE })),
  only('getFile', 404, 'upload_not_found', 'another name', (good) => ({ id: `${good.id}.txt` })),
  only('getFile', 412, undefined, 'a condition that fails', (good) => ({
    ...good,
    headers: { 'if-match': '"another"' },
  })),
  only('getFile', 416, undefined, 'a range beyond the end', (good) => ({
    ...good,
    headers: { range: 'bytes=100-' },
  })),

  only('chat', 404, 'upload_not_found', "another user's file", async (_good, gateway) => {
    const body = chatBody({ app_id: 'app', files: [await foreignUrl(gateway)] })
    return { ...chatRequest(gateway), body }
  }),
  only('createResponse', 404, 'upload_not_found', "another user's file", async (_good, gateway) => {
    const part = { type: 'input_image', image_url: await foreignUrl(gateway) }
    const text = { type: 'input_text', text: 'Hello' }
    return responseRequest(gateway, 'fastgpt/app', [{ role: 'user', content: [text, part] }])
  }),
  only('createCompletion', 404, 'upload_not_found', "another user's file", async (_good, gateway) => {
    const image_url = { url: await foreignUrl(gateway) }
    const content = [
      { type: 'text', text: 'Hello' },
      { type: 'image_url', image_url },
    ]
    return {
      ...completionRequest(gateway),
      body: { model: 'fastgpt/app', messages: [{ role: 'user', content }] },
    }
  }),
]
