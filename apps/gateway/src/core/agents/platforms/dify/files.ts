import type { AgentCall, AgentFile, FileToUpload, HelperCall } from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'
import { multipartPost } from '#core/agents/translate/multipart-post.ts'
import { bearer } from '#core/agents/translate/plain-requests.ts'
import { uploadCall } from '#core/agents/translate/upload-call.ts'
import { difyRefusal } from './failures.ts'

/** Returns a file as an element of `files`. */
export function fileInfo(file: AgentFile): object {
  return 'url' in file
    ? { type: file.kind, transfer_method: 'remote_url', url: file.url }
    : { type: file.kind, transfer_method: 'local_file', upload_file_id: file.platformFileId }
}

export function difyUpload(
  call: AgentCall,
  file: FileToUpload,
): HelperCall<{ readonly platformFileId: string }> {
  const named = { ...file, name: uploadName(file.name) }
  const url = `${call.agent.apiUrl}/files/upload`
  const request = multipartPost(url, bearer(call), named, { user: call.endUser })
  return uploadCall(file, request, difyRefusal, (body) => body.id)
}

/** Returns a name that Dify accepts for an upload; it rejects names with any of these characters. */
function uploadName(name: string): string {
  return name.replace(/[/\\:*?"<>|]/g, '_')
}

/**
 * Matches the text, because the code is that of any wrong parameter. Dify says so of an id that it does not know (any more),
 * of another user's or workspace's file, and of an id that is not a UUID.
 */
export function isDifyFileRefusal({ reason, message }: Failure): boolean {
  return reason === 'agent_rejected_input' && /^Invalid upload file\b/.test(message ?? '')
}
