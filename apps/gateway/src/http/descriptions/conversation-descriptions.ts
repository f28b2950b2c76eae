/** The messages of a conversation, and what can be done with one. */
export const CONVERSATION_DESCRIPTIONS = {
  messages: 'A page of the messages of a conversation, the newest page first.',
  message: 'A message of a conversation.',
  items: 'In the order in which they were said.',
  hasMore: 'Whether there are older messages.',
  before: 'Names the page before this one; null at the beginning of the conversation.',
  complete:
    'Whether all that was said is there, as far as is known. Of an agent whose turns the gateway keeps, older ones may have been dropped.',
  messageId: 'The id of the message, unique within its conversation.',
  role: 'Who said it.',
  text: 'The text.',
  files: 'The files, as the platform names them. Their URLs may expire.',
  fileUrl: 'Where the file is.',
  fileName: 'Its name, where the platform tells one.',
  messageAt: 'When it was said; null where the platform does not tell.',
  messageCall: 'The id of the call whose answer it is, where that is known: it can be rated by this id.',
  rating: 'What the user thinks of the answer; null if it was not rated.',
  ratingGiven: 'What the user thinks of the answer. Null takes a rating back.',
  ratingText: 'What the user says about it, at most 2,000 characters.',
  newName: 'The new name, of 1 to 200 characters. Null takes the name back, here alone.',
  limit: 'The largest number of messages.',
  beforeGiven:
    '`before` of the page after it, or the id of one of the last thousand messages. Omit it to get the newest page.',
} as const
