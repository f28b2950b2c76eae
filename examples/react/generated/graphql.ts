/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** The own rate limits of an API key. Only administrators may set one above that of the gateway, up to `limits.maxPerKey` of the configuration. Null removes a limit; one that is absent keeps its value. */
export type ApiKeyLimitsInput = {
  /** The chats that the key may start in a minute; null removes this limit. */
  chatPerMinute?: number | null | undefined;
  /** The uploads that the key may make in a minute; null removes this limit. */
  uploadPerMinute?: number | null | undefined;
};

/** A message to an agent. */
export type ChatInput = {
  /** The id of the agent that answers, such as `fastgpt`. */
  agentId: string;
  /** Answers a pause of the conversation by its id. */
  answer?: PauseAnswerInput | null | undefined;
  /** The id of the application on the platform. FastGPT needs it, and Coze where the gateway has no default bot; for the others it may be left out. */
  appId?: string | null | undefined;
  /** The conversation to continue: an id of your choice, such as `order-17`, or the `conversationId` of an earlier reply. Without it a new conversation begins; HiAgent needs it. */
  conversationId?: string | null | undefined;
  /** Whether the reply has the progress that the platform reports. */
  detail?: boolean;
  /** The end user on whose behalf you ask, by an id of your choice. Conversations of different end users are kept apart, and reports can be grouped by it. It is not believed where a trusted proxy names the end users of requests. */
  endUser?: string | null | undefined;
  /** The http(s) URLs of files for the agent: those of your uploads, or other public ones. */
  files?: Array<string> | null | undefined;
  /** Keeps the reply under this key of your choice (1 to 255 printable ASCII characters): the same chat can be repeated without another run, leaving does not stop the agent, and `chatResumed` follows the reply again. REST has it as the header `Idempotency-Key`. */
  idempotencyKey?: string | null | undefined;
  /** The message. It must not be blank, except beside `answer`. */
  query: string;
  /** The input variables of the application on the platform, such as `{"language": "en"}`. */
  variables?: Record<string, unknown> | null | undefined;
};

/** A new API key. */
export type CreateApiKeyInput = {
  /** The network addresses from which the key may be used, each alone or as a range in CIDR notation, IPv4 or IPv6. Null allows all addresses. */
  allowedAddresses?: Array<string> | null | undefined;
  /** The agents that the key may call, each as `agent` or, for one app alone, `agent/app`. Null allows all agents. */
  allowedAgents?: Array<string> | null | undefined;
  /** What the key is for, at most 500 characters; may be empty. */
  description: string;
  /** When the key expires: a time in the future, in ISO 8601 with a time zone, or a date alone, which is the end of that day in UTC. By default it is at most ten years ahead (`apiKeys.maxLifetimeDays`). */
  expiresAt: string;
  /** The key's own rate limits. Only administrators may set one above the gateway's, up to `limits.maxPerKey` of the configuration. Null removes them, so that the limits of the gateway apply. Where the gateway counts in windows of another length than a minute, the values are scaled to that length, to at least 1. */
  limits?: ApiKeyLimitsInput | null | undefined;
  /** A label for the key, such as `support bot`, at most 100 characters. */
  name: string;
  /** The id of the user whom the key will belong to; the default is the caller. Only administrators may name another user. */
  ownerId?: string | number | null | undefined;
  /** What the key may be used for, at least one. Only administrators may grant `admin`. */
  permissions: Array<Permission>;
};

/** The conversation to delete. */
export type DeleteConversationInput = {
  /** The id of the conversation, made by the gateway. */
  id: string | number;
};

/** Why a reply ended. */
export type FinishReason =
  /** The platform cut the reply for its content. */
  | 'CONTENT_FILTER'
  /** The platform cut the reply at a length limit, such as the model's limit of tokens. */
  | 'LENGTH'
  /** The reply is complete. */
  | 'STOP'
  /** The model asks for the output of tools. */
  | 'TOOL_CALLS';

/** The credentials of a user. */
export type LoginInput = {
  /** The password of the user. */
  password: string;
  /** The username; upper and lower case are the same. */
  username: string;
};

/** Who said a message. */
export type MessageRole =
  /** The agent. */
  | 'ASSISTANT'
  /** The user. */
  | 'USER';

/** The answer to a pause. It names its pause, so that a second click answers nothing else. `query` may be empty beside it. */
export type PauseAnswerInput = {
  /** True gives the pause up and stops the run where its platform can. `query`, if it is not empty, is an ordinary message then. */
  cancel?: boolean | null | undefined;
  /** The values of the form by the names of its fields. */
  fields?: Record<string, unknown> | null | undefined;
  /** The id of the option that was chosen. */
  optionId?: string | null | undefined;
  /** The id of the pause. */
  pauseId: string | number;
  /** Any JSON, which keeps its type: the answer to a pause without fields, in place of `optionId` and `fields`. */
  value?: unknown;
};

/** What an API key may be used for. */
export type Permission =
  /** Everything that its owner may do, except creating API keys. */
  | 'ADMIN'
  /** Chats. */
  | 'CHAT'
  /** Uploads. */
  | 'UPLOAD';

/** The call to rate, and what its user thinks of the answer. */
export type RateCallInput = {
  /** The id of the call. */
  callId: string | number;
  /** What the user thinks of the answer. Null takes a rating back. */
  rating?: Rating | null | undefined;
  /** What the user says about it, at most 2,000 characters. */
  text?: string | null | undefined;
};

/** What a user thinks of an answer. */
export type Rating =
  /** It was not. */
  | 'DOWN'
  /** It was good. */
  | 'UP';

/** The conversation to rename, and its name. */
export type RenameConversationInput = {
  /** The id of the conversation, made by the gateway. */
  id: string | number;
  /** The new name, of 1 to 200 characters. Null takes the name back, here alone. */
  name?: string | null | undefined;
};

/** The API key to revoke. */
export type RevokeApiKeyInput = {
  /** The id of the key. */
  keyId: string | number;
};

export type ConversationsQueryVariables = Exact<{
  agentId: string;
}>;


export type ConversationsQuery = { conversations: { nodes: Array<{ id: string, conversationId: string, name: string | null }> } | null };

export type MessagesQueryVariables = Exact<{
  id: string | number;
  before?: string | null | undefined;
}>;


export type MessagesQuery = { conversation: { id: string, messages: { nodes: Array<{ messageId: string, role: MessageRole, text: string, callId: string | null, rating: Rating | null }>, pageInfo: { hasPreviousPage: boolean, startCursor: string | null } } | null } | null };

export type AskSubscriptionVariables = Exact<{
  input: ChatInput;
}>;


export type AskSubscription = { chat:
    | { __typename: 'ChatFinished' }
    | { __typename: 'ChatStarted', callId: string, conversationId: string }
    | { __typename: 'ChatText', text: string }
    | { __typename: 'ChatTextReplaced', text: string }
    | { __typename: 'FileDetail' }
    | { __typename: 'Interaction' }
    | { __typename: 'NodeFinished' }
    | { __typename: 'NodeStarted' }
    | { __typename: 'OtherDetail' }
    | { __typename: 'Reasoning' }
    | { __typename: 'Sources' }
    | { __typename: 'TextReplacement' }
    | { __typename: 'Thought' }
    | { __typename: 'ToolCall' }
    | { __typename: 'ToolResult' }
    | { __typename: 'Variables' }
   | null };

export type RenameConversationMutationVariables = Exact<{
  input: RenameConversationInput;
}>;


export type RenameConversationMutation = { renameConversation: { conversation: { id: string, name: string | null } } | null };

export type DeleteConversationMutationVariables = Exact<{
  input: DeleteConversationInput;
}>;


export type DeleteConversationMutation = { deleteConversation: { id: string } | null };

export type RateCallMutationVariables = Exact<{
  input: RateCallInput;
}>;


export type RateCallMutation = { rateCall: { callId: string, rating: Rating | null } | null };

export type LoginMutationVariables = Exact<{
  input: LoginInput;
}>;


export type LoginMutation = { login: { accessToken: string } | null };

export type ApiKeysQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type ApiKeysQuery = { apiKeys: { totalCount: number, nodes: Array<{ id: string, name: string, keyPrefix: string, isActive: boolean }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type CreateApiKeyMutationVariables = Exact<{
  input: CreateApiKeyInput;
}>;


export type CreateApiKeyMutation = { createApiKey: { fullKey: string, apiKey: { id: string } } | null };

export type RevokeApiKeyMutationVariables = Exact<{
  input: RevokeApiKeyInput;
}>;


export type RevokeApiKeyMutation = { revokeApiKey: { apiKey: { id: string, isActive: boolean } } | null };

type Metrics_UsagePoint_Fragment = { calls: number, failedCalls: number };

type Metrics_UsageTotals_Fragment = { calls: number, failedCalls: number };

export type MetricsFragment =
  | Metrics_UsagePoint_Fragment
  | Metrics_UsageTotals_Fragment
;

export type UsageByAgentQueryVariables = Exact<{
  from: string;
  to: string;
}>;


export type UsageByAgentQuery = { usage: { totals: { calls: number, failedCalls: number }, groups: Array<{ agentId: string | null, totals: { calls: number, failedCalls: number } }> } | null };

export type UsageUpdatedSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type UsageUpdatedSubscription = { usageUpdated: { totals: { calls: number, failedCalls: number }, quota: { remaining: number } } | null };

export type ChatSubscriptionVariables = Exact<{
  input: ChatInput;
}>;


export type ChatSubscription = { chat:
    | { __typename: 'ChatFinished', finishReason: FinishReason, pause: { pauseId: string, options: Array<{ optionId: string, title: string }> } | null }
    | { __typename: 'ChatStarted', conversationId: string }
    | { __typename: 'ChatText', text: string }
    | { __typename: 'ChatTextReplaced', text: string }
    | { __typename: 'FileDetail' }
    | { __typename: 'Interaction' }
    | { __typename: 'NodeFinished' }
    | { __typename: 'NodeStarted' }
    | { __typename: 'OtherDetail' }
    | { __typename: 'Reasoning' }
    | { __typename: 'Sources' }
    | { __typename: 'TextReplacement' }
    | { __typename: 'Thought' }
    | { __typename: 'ToolCall' }
    | { __typename: 'ToolResult' }
    | { __typename: 'Variables' }
   | null };

export const MetricsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Metrics"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UsageMetrics"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"calls"}},{"kind":"Field","name":{"kind":"Name","value":"failedCalls"}}]}}]} as unknown as DocumentNode<MetricsFragment, unknown>;
export const ConversationsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Conversations"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"agentId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"conversations"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"agentId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"agentId"}}}]}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"20"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"conversationId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]} as unknown as DocumentNode<ConversationsQuery, ConversationsQueryVariables>;
export const MessagesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Messages"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"conversation"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"messages"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"IntValue","value":"20"}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"messageId"}},{"kind":"Field","name":{"kind":"Name","value":"role"}},{"kind":"Field","name":{"kind":"Name","value":"text"}},{"kind":"Field","name":{"kind":"Name","value":"callId"}},{"kind":"Field","name":{"kind":"Name","value":"rating"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasPreviousPage"}},{"kind":"Field","name":{"kind":"Name","value":"startCursor"}}]}}]}}]}}]}}]} as unknown as DocumentNode<MessagesQuery, MessagesQueryVariables>;
export const AskDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"Ask"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ChatInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"chat"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ChatStarted"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"callId"}},{"kind":"Field","name":{"kind":"Name","value":"conversationId"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ChatText"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"text"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ChatTextReplaced"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"text"}}]}}]}}]}}]} as unknown as DocumentNode<AskSubscription, AskSubscriptionVariables>;
export const RenameConversationDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RenameConversation"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RenameConversationInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"renameConversation"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"conversation"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]} as unknown as DocumentNode<RenameConversationMutation, RenameConversationMutationVariables>;
export const DeleteConversationDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DeleteConversation"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DeleteConversationInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteConversation"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]} as unknown as DocumentNode<DeleteConversationMutation, DeleteConversationMutationVariables>;
export const RateCallDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RateCall"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RateCallInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rateCall"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"callId"}},{"kind":"Field","name":{"kind":"Name","value":"rating"}}]}}]}}]} as unknown as DocumentNode<RateCallMutation, RateCallMutationVariables>;
export const LoginDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"Login"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LoginInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"login"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"accessToken"}}]}}]}}]} as unknown as DocumentNode<LoginMutation, LoginMutationVariables>;
export const ApiKeysDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ApiKeys"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"apiKeys"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"10"}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"keyPrefix"}},{"kind":"Field","name":{"kind":"Name","value":"isActive"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]} as unknown as DocumentNode<ApiKeysQuery, ApiKeysQueryVariables>;
export const CreateApiKeyDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreateApiKey"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateApiKeyInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createApiKey"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"fullKey"}},{"kind":"Field","name":{"kind":"Name","value":"apiKey"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]} as unknown as DocumentNode<CreateApiKeyMutation, CreateApiKeyMutationVariables>;
export const RevokeApiKeyDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RevokeApiKey"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RevokeApiKeyInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"revokeApiKey"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"apiKey"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"isActive"}}]}}]}}]}}]} as unknown as DocumentNode<RevokeApiKeyMutation, RevokeApiKeyMutationVariables>;
export const UsageByAgentDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"UsageByAgent"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usage"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"ObjectField","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}}]}},{"kind":"Argument","name":{"kind":"Name","value":"groupBy"},"value":{"kind":"ListValue","values":[{"kind":"EnumValue","value":"AGENT"}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totals"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Metrics"}}]}},{"kind":"Field","name":{"kind":"Name","value":"groups"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agentId"}},{"kind":"Field","name":{"kind":"Name","value":"totals"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Metrics"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Metrics"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UsageMetrics"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"calls"}},{"kind":"Field","name":{"kind":"Name","value":"failedCalls"}}]}}]} as unknown as DocumentNode<UsageByAgentQuery, UsageByAgentQueryVariables>;
export const UsageUpdatedDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"UsageUpdated"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usageUpdated"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totals"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Metrics"}}]}},{"kind":"Field","name":{"kind":"Name","value":"quota"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"remaining"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Metrics"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UsageMetrics"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"calls"}},{"kind":"Field","name":{"kind":"Name","value":"failedCalls"}}]}}]} as unknown as DocumentNode<UsageUpdatedSubscription, UsageUpdatedSubscriptionVariables>;
export const ChatDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"Chat"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ChatInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"chat"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ChatStarted"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"conversationId"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ChatText"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"text"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ChatTextReplaced"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"text"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ChatFinished"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"finishReason"}},{"kind":"Field","name":{"kind":"Name","value":"pause"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pauseId"}},{"kind":"Field","name":{"kind":"Name","value":"options"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"optionId"}},{"kind":"Field","name":{"kind":"Name","value":"title"}}]}}]}}]}}]}}]}}]} as unknown as DocumentNode<ChatSubscription, ChatSubscriptionVariables>;