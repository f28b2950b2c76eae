import type {
  AgentName,
  ChatRequest,
  ConversationName,
  RequestedMessages,
  RequestedQuestion,
} from './chat-request.ts'

const NO_TOOLS = { fields: [], kinds: [], forcedBy: undefined }

type Fields = Omit<ChatRequest, 'agent' | 'asks' | 'conversation'> &
  Omit<AgentName, 'id'> &
  ConversationName &
  Omit<RequestedQuestion, 'kind'> &
  Omit<RequestedMessages, 'kind' | 'messages'>

/** The fields of a request, whatever it asks, so that a test names only those that it is about. */
export interface RequestFields extends Partial<Fields> {
  readonly agent?: string | undefined
  /** With these it asks by messages, otherwise by a question. */
  readonly messages?: RequestedMessages['messages']
}

export function requestOf(fields: RequestFields = {}): ChatRequest {
  const { agent = 'agent' in fields ? undefined : 'dify', appId = '', model, isInModel = false } = fields
  const { chatId = '', conversationId = '', after = [], messages } = fields
  const { query = 'hello', files = [], variables = {} } = fields
  const { parameters = {}, tools = NO_TOOLS, unsupported = [], keepsTurn = false } = fields
  return {
    requestId: fields.requestId ?? 'request-1',
    face: fields.face ?? 'rest',
    credential: fields.credential ?? 'tl_key',
    address: fields.address ?? '192.0.2.1',
    agent: { id: agent, appId, isInModel, ...(model !== undefined && { model }) },
    asks:
      messages === undefined
        ? { kind: 'question', query, files, variables }
        : { kind: 'messages', messages, parameters, sentFields: [], tools, unsupported, keepsTurn },
    conversation: { chatId, conversationId, after },
    endUser: fields.endUser ?? '',
    readEndUser: fields.readEndUser ?? (() => undefined),
    stream: fields.stream ?? false,
  }
}
