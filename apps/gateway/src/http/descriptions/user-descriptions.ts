/** A user and its quota. */
export const USER_DESCRIPTIONS = {
  newUser: 'A new user.',
  id: 'The id of the user.',
  username: 'The name with which the user logs in; unique without regard to case.',
  newUsername: '3 to 64 letters, digits and the characters `._-@`; unique without regard to case.',
  createdAt: 'When the user was created.',
  updatedAt: 'When the user was last changed.',
  lastLogin: 'When the user last logged in; null if never.',
  apiCallsCount:
    'How many calls the user has made in the current quota period; all calls ever if there is no period.',
  maxApiCalls: 'How many calls the user may make in a quota period; 0 allows none.',
  remaining: 'How many calls are left in the current quota period.',
  resetsAt: 'When the next period begins; null if there is no period.',
  passwords: "The caller's current password and its new one.",
  currentPassword: 'The password that is valid now.',
} as const
