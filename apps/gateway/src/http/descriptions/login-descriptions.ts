/** What a login returns. */
export const LOGIN_DESCRIPTIONS = {
  result: 'An access token and the user that it belongs to.',
  tokenType: 'Always `bearer`.',
  expiresIn: 'The lifetime of the token in seconds.',
} as const
