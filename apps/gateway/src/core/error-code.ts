/** The `code` that Node's and the databases' errors carry, which is more stable than their messages. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
