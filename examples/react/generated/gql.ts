/* eslint-disable */
import * as types from './graphql.ts';
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';

/**
 * Map of all GraphQL operations in the project.
 *
 * This map has several performance disadvantages:
 * 1. It is not tree-shakeable, so it will include all operations in the project.
 * 2. It is not minifiable, so the string of a GraphQL query will be multiple times inside the bundle.
 * 3. It does not support dead code elimination, so it will add unused operations.
 *
 * Therefore it is highly recommended to use the babel or swc plugin for production.
 * Learn more about it here: https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#reducing-bundle-size
 */
type Documents = {
    "\n  query Conversations($agentId: String!) {\n    conversations(filter: { agentId: $agentId }, first: 20) {\n      nodes {\n        id\n        conversationId\n        name\n      }\n    }\n  }\n": typeof types.ConversationsDocument,
    "\n  query Messages($id: ID!, $before: String) {\n    conversation(id: $id) {\n      id\n      messages(last: 20, before: $before) {\n        nodes {\n          messageId\n          role\n          text\n          callId\n          rating\n        }\n        pageInfo {\n          hasPreviousPage\n          startCursor\n        }\n      }\n    }\n  }\n": typeof types.MessagesDocument,
    "\n  subscription Ask($input: ChatInput!) {\n    chat(input: $input) {\n      __typename\n      ... on ChatStarted {\n        callId\n        conversationId\n      }\n      ... on ChatText {\n        text\n      }\n      ... on ChatTextReplaced {\n        text\n      }\n    }\n  }\n": typeof types.AskDocument,
    "\n  mutation RenameConversation($input: RenameConversationInput!) {\n    renameConversation(input: $input) {\n      conversation {\n        id\n        name\n      }\n    }\n  }\n": typeof types.RenameConversationDocument,
    "\n  mutation DeleteConversation($input: DeleteConversationInput!) {\n    deleteConversation(input: $input) {\n      id\n    }\n  }\n": typeof types.DeleteConversationDocument,
    "\n  mutation RateCall($input: RateCallInput!) {\n    rateCall(input: $input) {\n      callId\n      rating\n    }\n  }\n": typeof types.RateCallDocument,
    "\n  mutation Login($input: LoginInput!) {\n    login(input: $input) {\n      accessToken\n    }\n  }\n": typeof types.LoginDocument,
    "\n  query ApiKeys($after: String) {\n    apiKeys(first: 10, after: $after) {\n      totalCount\n      nodes {\n        id\n        name\n        keyPrefix\n        isActive\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n": typeof types.ApiKeysDocument,
    "\n  mutation CreateApiKey($input: CreateApiKeyInput!) {\n    createApiKey(input: $input) {\n      fullKey\n      apiKey {\n        id\n      }\n    }\n  }\n": typeof types.CreateApiKeyDocument,
    "\n  mutation RevokeApiKey($input: RevokeApiKeyInput!) {\n    revokeApiKey(input: $input) {\n      apiKey {\n        id\n        isActive\n      }\n    }\n  }\n": typeof types.RevokeApiKeyDocument,
    "\n  fragment Metrics on UsageMetrics {\n    calls\n    failedCalls\n  }\n": typeof types.MetricsFragmentDoc,
    "\n  query UsageByAgent($from: DateTime!, $to: DateTime!) {\n    usage(filter: { from: $from, to: $to }, groupBy: [AGENT]) {\n      totals {\n        ...Metrics\n      }\n      groups {\n        agentId\n        totals {\n          ...Metrics\n        }\n      }\n    }\n  }\n": typeof types.UsageByAgentDocument,
    "\n  subscription UsageUpdated {\n    usageUpdated {\n      totals {\n        ...Metrics\n      }\n      quota {\n        remaining\n      }\n    }\n  }\n": typeof types.UsageUpdatedDocument,
    "\n  subscription Chat($input: ChatInput!) {\n    chat(input: $input) {\n      __typename\n      ... on ChatStarted {\n        conversationId\n      }\n      ... on ChatText {\n        text\n      }\n      ... on ChatTextReplaced {\n        text\n      }\n      ... on ChatFinished {\n        finishReason\n        pause {\n          pauseId\n          options {\n            optionId\n            title\n          }\n        }\n      }\n    }\n  }\n": typeof types.ChatDocument,
};
const documents: Documents = {
    "\n  query Conversations($agentId: String!) {\n    conversations(filter: { agentId: $agentId }, first: 20) {\n      nodes {\n        id\n        conversationId\n        name\n      }\n    }\n  }\n": types.ConversationsDocument,
    "\n  query Messages($id: ID!, $before: String) {\n    conversation(id: $id) {\n      id\n      messages(last: 20, before: $before) {\n        nodes {\n          messageId\n          role\n          text\n          callId\n          rating\n        }\n        pageInfo {\n          hasPreviousPage\n          startCursor\n        }\n      }\n    }\n  }\n": types.MessagesDocument,
    "\n  subscription Ask($input: ChatInput!) {\n    chat(input: $input) {\n      __typename\n      ... on ChatStarted {\n        callId\n        conversationId\n      }\n      ... on ChatText {\n        text\n      }\n      ... on ChatTextReplaced {\n        text\n      }\n    }\n  }\n": types.AskDocument,
    "\n  mutation RenameConversation($input: RenameConversationInput!) {\n    renameConversation(input: $input) {\n      conversation {\n        id\n        name\n      }\n    }\n  }\n": types.RenameConversationDocument,
    "\n  mutation DeleteConversation($input: DeleteConversationInput!) {\n    deleteConversation(input: $input) {\n      id\n    }\n  }\n": types.DeleteConversationDocument,
    "\n  mutation RateCall($input: RateCallInput!) {\n    rateCall(input: $input) {\n      callId\n      rating\n    }\n  }\n": types.RateCallDocument,
    "\n  mutation Login($input: LoginInput!) {\n    login(input: $input) {\n      accessToken\n    }\n  }\n": types.LoginDocument,
    "\n  query ApiKeys($after: String) {\n    apiKeys(first: 10, after: $after) {\n      totalCount\n      nodes {\n        id\n        name\n        keyPrefix\n        isActive\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n": types.ApiKeysDocument,
    "\n  mutation CreateApiKey($input: CreateApiKeyInput!) {\n    createApiKey(input: $input) {\n      fullKey\n      apiKey {\n        id\n      }\n    }\n  }\n": types.CreateApiKeyDocument,
    "\n  mutation RevokeApiKey($input: RevokeApiKeyInput!) {\n    revokeApiKey(input: $input) {\n      apiKey {\n        id\n        isActive\n      }\n    }\n  }\n": types.RevokeApiKeyDocument,
    "\n  fragment Metrics on UsageMetrics {\n    calls\n    failedCalls\n  }\n": types.MetricsFragmentDoc,
    "\n  query UsageByAgent($from: DateTime!, $to: DateTime!) {\n    usage(filter: { from: $from, to: $to }, groupBy: [AGENT]) {\n      totals {\n        ...Metrics\n      }\n      groups {\n        agentId\n        totals {\n          ...Metrics\n        }\n      }\n    }\n  }\n": types.UsageByAgentDocument,
    "\n  subscription UsageUpdated {\n    usageUpdated {\n      totals {\n        ...Metrics\n      }\n      quota {\n        remaining\n      }\n    }\n  }\n": types.UsageUpdatedDocument,
    "\n  subscription Chat($input: ChatInput!) {\n    chat(input: $input) {\n      __typename\n      ... on ChatStarted {\n        conversationId\n      }\n      ... on ChatText {\n        text\n      }\n      ... on ChatTextReplaced {\n        text\n      }\n      ... on ChatFinished {\n        finishReason\n        pause {\n          pauseId\n          options {\n            optionId\n            title\n          }\n        }\n      }\n    }\n  }\n": types.ChatDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 *
 *
 * @example
 * ```ts
 * const query = graphql(`query GetUser($id: ID!) { user(id: $id) { name } }`);
 * ```
 *
 * The query argument is unknown!
 * Please regenerate the types.
 */
export function graphql(source: string): unknown;

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Conversations($agentId: String!) {\n    conversations(filter: { agentId: $agentId }, first: 20) {\n      nodes {\n        id\n        conversationId\n        name\n      }\n    }\n  }\n"): (typeof documents)["\n  query Conversations($agentId: String!) {\n    conversations(filter: { agentId: $agentId }, first: 20) {\n      nodes {\n        id\n        conversationId\n        name\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Messages($id: ID!, $before: String) {\n    conversation(id: $id) {\n      id\n      messages(last: 20, before: $before) {\n        nodes {\n          messageId\n          role\n          text\n          callId\n          rating\n        }\n        pageInfo {\n          hasPreviousPage\n          startCursor\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query Messages($id: ID!, $before: String) {\n    conversation(id: $id) {\n      id\n      messages(last: 20, before: $before) {\n        nodes {\n          messageId\n          role\n          text\n          callId\n          rating\n        }\n        pageInfo {\n          hasPreviousPage\n          startCursor\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription Ask($input: ChatInput!) {\n    chat(input: $input) {\n      __typename\n      ... on ChatStarted {\n        callId\n        conversationId\n      }\n      ... on ChatText {\n        text\n      }\n      ... on ChatTextReplaced {\n        text\n      }\n    }\n  }\n"): (typeof documents)["\n  subscription Ask($input: ChatInput!) {\n    chat(input: $input) {\n      __typename\n      ... on ChatStarted {\n        callId\n        conversationId\n      }\n      ... on ChatText {\n        text\n      }\n      ... on ChatTextReplaced {\n        text\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation RenameConversation($input: RenameConversationInput!) {\n    renameConversation(input: $input) {\n      conversation {\n        id\n        name\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation RenameConversation($input: RenameConversationInput!) {\n    renameConversation(input: $input) {\n      conversation {\n        id\n        name\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation DeleteConversation($input: DeleteConversationInput!) {\n    deleteConversation(input: $input) {\n      id\n    }\n  }\n"): (typeof documents)["\n  mutation DeleteConversation($input: DeleteConversationInput!) {\n    deleteConversation(input: $input) {\n      id\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation RateCall($input: RateCallInput!) {\n    rateCall(input: $input) {\n      callId\n      rating\n    }\n  }\n"): (typeof documents)["\n  mutation RateCall($input: RateCallInput!) {\n    rateCall(input: $input) {\n      callId\n      rating\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation Login($input: LoginInput!) {\n    login(input: $input) {\n      accessToken\n    }\n  }\n"): (typeof documents)["\n  mutation Login($input: LoginInput!) {\n    login(input: $input) {\n      accessToken\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query ApiKeys($after: String) {\n    apiKeys(first: 10, after: $after) {\n      totalCount\n      nodes {\n        id\n        name\n        keyPrefix\n        isActive\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n"): (typeof documents)["\n  query ApiKeys($after: String) {\n    apiKeys(first: 10, after: $after) {\n      totalCount\n      nodes {\n        id\n        name\n        keyPrefix\n        isActive\n      }\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation CreateApiKey($input: CreateApiKeyInput!) {\n    createApiKey(input: $input) {\n      fullKey\n      apiKey {\n        id\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation CreateApiKey($input: CreateApiKeyInput!) {\n    createApiKey(input: $input) {\n      fullKey\n      apiKey {\n        id\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation RevokeApiKey($input: RevokeApiKeyInput!) {\n    revokeApiKey(input: $input) {\n      apiKey {\n        id\n        isActive\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation RevokeApiKey($input: RevokeApiKeyInput!) {\n    revokeApiKey(input: $input) {\n      apiKey {\n        id\n        isActive\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment Metrics on UsageMetrics {\n    calls\n    failedCalls\n  }\n"): (typeof documents)["\n  fragment Metrics on UsageMetrics {\n    calls\n    failedCalls\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query UsageByAgent($from: DateTime!, $to: DateTime!) {\n    usage(filter: { from: $from, to: $to }, groupBy: [AGENT]) {\n      totals {\n        ...Metrics\n      }\n      groups {\n        agentId\n        totals {\n          ...Metrics\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query UsageByAgent($from: DateTime!, $to: DateTime!) {\n    usage(filter: { from: $from, to: $to }, groupBy: [AGENT]) {\n      totals {\n        ...Metrics\n      }\n      groups {\n        agentId\n        totals {\n          ...Metrics\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription UsageUpdated {\n    usageUpdated {\n      totals {\n        ...Metrics\n      }\n      quota {\n        remaining\n      }\n    }\n  }\n"): (typeof documents)["\n  subscription UsageUpdated {\n    usageUpdated {\n      totals {\n        ...Metrics\n      }\n      quota {\n        remaining\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription Chat($input: ChatInput!) {\n    chat(input: $input) {\n      __typename\n      ... on ChatStarted {\n        conversationId\n      }\n      ... on ChatText {\n        text\n      }\n      ... on ChatTextReplaced {\n        text\n      }\n      ... on ChatFinished {\n        finishReason\n        pause {\n          pauseId\n          options {\n            optionId\n            title\n          }\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  subscription Chat($input: ChatInput!) {\n    chat(input: $input) {\n      __typename\n      ... on ChatStarted {\n        conversationId\n      }\n      ... on ChatText {\n        text\n      }\n      ... on ChatTextReplaced {\n        text\n      }\n      ... on ChatFinished {\n        finishReason\n        pause {\n          pauseId\n          options {\n            optionId\n            title\n          }\n        }\n      }\n    }\n  }\n"];

export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}

export type DocumentType<TDocumentNode extends DocumentNode<any, any>> = TDocumentNode extends DocumentNode<  infer TType,  any>  ? TType  : never;