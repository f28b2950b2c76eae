/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
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

export type LoginMutationVariables = Exact<{
  input: LoginInput;
}>;


export type LoginMutation = { login: { accessToken: string, expiresIn: number } | null };

export type CallsByAgentQueryVariables = Exact<{
  from: string;
  to: string;
}>;


export type CallsByAgentQuery = { usage: { totals: { calls: number }, groups: Array<{ agentId: string | null, totals: { calls: number } }> } | null };

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

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}

export const LoginDocument = new TypedDocumentString(`
    mutation Login($input: LoginInput!) {
  login(input: $input) {
    accessToken
    expiresIn
  }
}
    `, {"hash":"sha256:9e78a60826aeccc1a679505620c289e715bb2b98624819fe32ae743a19867327"}) as unknown as TypedDocumentString<LoginMutation, LoginMutationVariables>;
export const CallsByAgentDocument = new TypedDocumentString(`
    query CallsByAgent($from: DateTime!, $to: DateTime!) {
  usage(filter: { from: $from, to: $to }, groupBy: [AGENT]) {
    totals {
      calls
    }
    groups {
      agentId
      totals {
        calls
      }
    }
  }
}
    `, {"hash":"sha256:6dac927d588b7eb36481ad94a715196946aa9a3494f0c05c72d45daf25b5125e"}) as unknown as TypedDocumentString<CallsByAgentQuery, CallsByAgentQueryVariables>;
export const ChatDocument = new TypedDocumentString(`
    subscription Chat($input: ChatInput!) {
  chat(input: $input) {
    __typename
    ... on ChatStarted {
      conversationId
    }
    ... on ChatText {
      text
    }
    ... on ChatTextReplaced {
      text
    }
    ... on ChatFinished {
      finishReason
      pause {
        pauseId
        options {
          optionId
          title
        }
      }
    }
  }
}
    `, {"hash":"sha256:f93e920758e6b9be0e2503b97a399ff1dc350f42f8bf59f4e2f5100d06b70b5b"}) as unknown as TypedDocumentString<ChatSubscription, ChatSubscriptionVariables>;