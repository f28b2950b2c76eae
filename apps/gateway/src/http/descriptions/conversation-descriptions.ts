/** A conversation, what can be done with it, and what selects conversations. */
export const CONVERSATION_DESCRIPTIONS = {
  resource:
    'A conversation of an end user with an agent and its app. It is listed within a second after its first call has ended, and as long after its last use as `conversations.mappingRetentionDays` says.',
  id: 'The id of the conversation, made by the gateway.',
  conversation:
    'The id by which the client names the conversation: `chat_id`, `conversation_id` or `X-Conversation-Id` of its calls. The same id of another user, end user, agent or app is another conversation.',
  ownerId: 'The id of the user whom the API keys of its calls belong to.',
  agent: 'The id of the agent.',
  app: 'The id of the app of the agent; empty if there is none.',
  endUser: 'The end user that the calls named; empty if they named none.',
  name: 'The name; null as long as nobody has named it.',
  createdAt: 'When its first call was admitted, as far as conversations were listed at that time.',
  lastActivityAt: 'When its last call ended, accurate to a minute.',
  turns: 'The complete answers, as far as the ledger still has their calls; counted up to 1,000.',
  lastOutcome:
    'How its last call ended; null while that is running, and once the ledger has no call of it any more.',
  paused: 'Whether a run waits for its user.',
  ofAgent: 'Only conversations with this agent.',
  ofApp: 'Only conversations with this app; empty for those without one.',
  ofUser: 'Only conversations of this end user; empty for those without one.',
  ofConversation: 'Only conversations that the client names by this id.',
  ofOwner: 'Only conversations of this user. Only administrators see those of others.',
  search:
    'Only conversations with this in their name, in the id of the client or in the end user, without regard to case. Every character stands for itself. A blank text selects all.',
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
  passedOn:
    'Whether the platform has it as well: `unsupported` where it takes no such thing. If that has failed, nothing is lost here.',
  atPlatform:
    'Whether the platform has deleted it, too: `unsupported` where it cannot, or had nothing of it.',
  newName: 'The new name, of 1 to 200 characters. Null takes the name back, here alone.',
  limit: 'The largest number of messages.',
  beforeGiven:
    '`before` of the page after it, or the id of one of the last thousand messages. Omit it to get the newest page.',
  visible:
    'An API key that may chat sees those of its owner with the agents that it may use, a user its own, and administrators all. A request that a trusted proxy has bound to an end user sees those of that one alone.',
} as const
