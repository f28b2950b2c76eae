/* eslint-disable */
import * as types from './graphql.ts';



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
    "\n  mutation Login($input: LoginInput!) {\n    login(input: $input) {\n      accessToken\n      expiresIn\n    }\n  }\n": typeof types.LoginDocument,
    "\n  query CallsByAgent($from: DateTime!, $to: DateTime!) {\n    usage(filter: { from: $from, to: $to }, groupBy: [AGENT]) {\n      totals {\n        calls\n      }\n      groups {\n        agentId\n        totals {\n          calls\n        }\n      }\n    }\n  }\n": typeof types.CallsByAgentDocument,
    "\n  subscription Chat($input: ChatInput!) {\n    chat(input: $input) {\n      __typename\n      ... on ChatStarted {\n        conversationId\n      }\n      ... on ChatText {\n        text\n      }\n      ... on ChatTextReplaced {\n        text\n      }\n      ... on ChatFinished {\n        finishReason\n        pause {\n          pauseId\n          options {\n            optionId\n            title\n          }\n        }\n      }\n    }\n  }\n": typeof types.ChatDocument,
};
const documents: Documents = {
    "\n  mutation Login($input: LoginInput!) {\n    login(input: $input) {\n      accessToken\n      expiresIn\n    }\n  }\n": types.LoginDocument,
    "\n  query CallsByAgent($from: DateTime!, $to: DateTime!) {\n    usage(filter: { from: $from, to: $to }, groupBy: [AGENT]) {\n      totals {\n        calls\n      }\n      groups {\n        agentId\n        totals {\n          calls\n        }\n      }\n    }\n  }\n": types.CallsByAgentDocument,
    "\n  subscription Chat($input: ChatInput!) {\n    chat(input: $input) {\n      __typename\n      ... on ChatStarted {\n        conversationId\n      }\n      ... on ChatText {\n        text\n      }\n      ... on ChatTextReplaced {\n        text\n      }\n      ... on ChatFinished {\n        finishReason\n        pause {\n          pauseId\n          options {\n            optionId\n            title\n          }\n        }\n      }\n    }\n  }\n": types.ChatDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation Login($input: LoginInput!) {\n    login(input: $input) {\n      accessToken\n      expiresIn\n    }\n  }\n"): typeof import('./graphql.ts').LoginDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query CallsByAgent($from: DateTime!, $to: DateTime!) {\n    usage(filter: { from: $from, to: $to }, groupBy: [AGENT]) {\n      totals {\n        calls\n      }\n      groups {\n        agentId\n        totals {\n          calls\n        }\n      }\n    }\n  }\n"): typeof import('./graphql.ts').CallsByAgentDocument;
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  subscription Chat($input: ChatInput!) {\n    chat(input: $input) {\n      __typename\n      ... on ChatStarted {\n        conversationId\n      }\n      ... on ChatText {\n        text\n      }\n      ... on ChatTextReplaced {\n        text\n      }\n      ... on ChatFinished {\n        finishReason\n        pause {\n          pauseId\n          options {\n            optionId\n            title\n          }\n        }\n      }\n    }\n  }\n"): typeof import('./graphql.ts').ChatDocument;


export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}
