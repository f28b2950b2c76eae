/** What descriptions of fields and operations say of end users, the same on every face. */
export const END_USER_DESCRIPTIONS = {
  asked:
    'The end user on whose behalf the caller asks. Conversations of different end users are kept apart. It is not believed where a trusted proxy names the end users of requests.',
  bound: 'A request that a trusted proxy has bound to an end user gets of these only those of that one.',
}
