/** A login and what it returns. */
export const LOGIN_DESCRIPTIONS = {
  credentials: 'The credentials of a user.',
  username: 'The username; upper and lower case are the same.',
  password: 'The password of the user.',
  result: 'An access token and the user that it belongs to.',
  tokenType: 'Always `bearer`.',
  expiresIn: 'The lifetime of the token in seconds.',
} as const
