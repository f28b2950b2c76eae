/** Returns the `code` of an error from Node or a database driver. Codes are more stable than messages. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
