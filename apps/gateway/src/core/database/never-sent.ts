/**
 * Whether a statement failed because no connection could be opened, so that the server has certainly not executed it. It is
 * recognized by error codes and, where pg sets none, by pg's messages.
 */
export function wasNeverSent(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: string }
  // 53300: too many connections; 57P03: the server is starting or stopping.
  if (typeof code === 'string' && /^(ECONNREFUSED|ENOTFOUND|EHOST|ENET|EAI_|53300|57P03)/.test(code))
    return true
  return /trying to connect|connection timeout/i.test(message ?? '')
}
