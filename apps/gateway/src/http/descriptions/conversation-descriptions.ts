/** The messages of a conversation, and what can be done with one. */
export const CONVERSATION_DESCRIPTIONS = {
  messages: 'A page of the messages of a conversation, the newest page first.',
  complete:
    'Whether all that was said is there, as far as is known. Of an agent whose turns the gateway keeps, older ones may have been dropped.',
  rating: 'What the user thinks of the answer; null if it was not rated.',
  limit: 'The largest number of messages.',
  beforeGiven:
    '`before` of the page after it, or the id of one of the last thousand messages. Omit it to get the newest page.',
} as const
