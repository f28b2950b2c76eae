import type { AgentFile } from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'

/** Returns a file as an element of `files`. */
export function fileInfo(file: AgentFile): object {
  return 'url' in file
    ? { type: file.kind, transfer_method: 'remote_url', url: file.url }
    : { type: file.kind, transfer_method: 'local_file', upload_file_id: file.platformFileId }
}

/** Returns a name that Dify accepts for an upload; it rejects names with any of these characters. */
export function uploadName(name: string): string {
  return name.replace(/[/\\:*?"<>|]/g, '_')
}

/**
 * Matches the text, because the code is that of any wrong parameter. Dify says so of an id that it does not know (any more),
 * of another user's or workspace's file, and of an id that is not a UUID.
 */
export function isDifyFileRefusal({ reason, message }: Failure): boolean {
  return reason === 'agent_rejected_input' && /^Invalid upload file\b/.test(message ?? '')
}
