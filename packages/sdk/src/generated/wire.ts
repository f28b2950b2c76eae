// Generated from openapi.json by `pnpm contract`. Do not edit.
export interface components {
    schemas: {
        /**
         * The body of every error response, except on the OpenAI-compatible routes.
         * @example {
         *       "code": 400,
         *       "msg": "The request is not valid.",
         *       "detail": "body.query: is required; expected a string.",
         *       "reason": "invalid_request",
         *       "request_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *       "fields": [
         *         {
         *           "field": "body.query",
         *           "message": "is required; expected a string."
         *         }
         *       ]
         *     }
         */
        ErrorBody: {
            /**
             * The HTTP status of the response.
             * @example 400
             */
            code: number;
            /**
             * A short sentence for people, the same for every error with this `reason`.
             * @example The request is not valid.
             */
            msg: string;
            /**
             * What exactly went wrong. Where a field is not valid, the text names it and says what was expected.
             * @example body.query: is required; expected a string.
             */
            detail: string;
            /**
             * A stable word that identifies the error. Programs should compare this field.
             * @example invalid_request
             */
            reason: ErrorReason | (string & {});
            /**
             * The id of the request, also sent in the header `X-Request-Id`.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            request_id: string;
            /** Every input that is at fault, in the order of the schema, and also if it is only one; `detail` says the same of the first. It is absent where no input is at fault. Mistakes that only the database shows, such as a username that is taken, come alone. */
            fields?: {
                /**
                 * The place of the input in the request, as `detail` names it.
                 * @example body.query
                 */
                field: string;
                /**
                 * What is wrong with it and what was expected; never a value of the request.
                 * @example is required; expected a string.
                 */
                message: string;
            }[];
        };
        /**
         * The tokens of the call as the platform reported them; absent where it reported none.
         * @example {
         *       "prompt_tokens": 12,
         *       "completion_tokens": 5,
         *       "total_tokens": 17
         *     }
         */
        TokenUsage: {
            /** The tokens of the input. */
            prompt_tokens: number;
            /** The tokens of the reply. */
            completion_tokens: number;
            /** The tokens of both. */
            total_tokens: number;
        };
        /**
         * A node of the workflow has started.
         * @example {
         *       "type": "node_started",
         *       "name": "Knowledge base search",
         *       "data": {
         *         "node_type": "knowledge-retrieval"
         *       }
         *     }
         */
        NodeStartedDetail: {
            /**
             * The kind of the step, the same for all platforms.
             * @enum {string}
             */
            type: "node_started";
            /** The id of the step on the platform. */
            id?: string;
            /** The name of the step or tool. */
            name?: string;
            /** The platform's word for the state of the step. */
            status?: string;
            /** What a step of this kind carries. */
            data: {
                /** The kind of the node, in the words of the platform. */
                node_type?: string;
            };
            /** How many milliseconds the step took. */
            elapsed_ms?: number;
            /** What the platform sent and the other fields do not hold, by the platform's names: further fields, and values of another type than expected. */
            raw?: {
                [key: string]: unknown;
            };
        };
        /**
         * A node of the workflow has finished; `status` says how.
         * @example {
         *       "type": "node_finished",
         *       "name": "Knowledge base search",
         *       "status": "succeeded",
         *       "elapsed_ms": 240,
         *       "data": {}
         *     }
         */
        NodeFinishedDetail: {
            /**
             * The kind of the step, the same for all platforms.
             * @enum {string}
             */
            type: "node_finished";
            /** The id of the step on the platform. */
            id?: string;
            /** The name of the step or tool. */
            name?: string;
            /** The platform's word for the state of the step. */
            status?: string;
            /** What a step of this kind carries. */
            data: {
                /** The kind of the node, in the words of the platform. */
                node_type?: string;
            };
            /** How many milliseconds the step took. */
            elapsed_ms?: number;
            /** What the platform sent and the other fields do not hold, by the platform's names: further fields, and values of another type than expected. */
            raw?: {
                [key: string]: unknown;
            };
        };
        /**
         * The agent calls a tool.
         * @example {
         *       "type": "tool_call",
         *       "id": "call_1",
         *       "name": "weather",
         *       "data": {
         *         "arguments": "{\"city\":\"Hangzhou\"}"
         *       }
         *     }
         */
        ToolCallDetail: {
            /**
             * The kind of the step, the same for all platforms.
             * @enum {string}
             */
            type: "tool_call";
            /** The id of the step on the platform. */
            id?: string;
            /** The name of the step or tool. */
            name?: string;
            /** The platform's word for the state of the step. */
            status?: string;
            /** What a step of this kind carries. */
            data: {
                /** All arguments of the tool, usually JSON. */
                arguments?: string;
                /** A piece of the arguments. The pieces of the calls with one `id` are joined. */
                arguments_delta?: string;
            };
            /** How many milliseconds the step took. */
            elapsed_ms?: number;
            /** What the platform sent and the other fields do not hold, by the platform's names: further fields, and values of another type than expected. */
            raw?: {
                [key: string]: unknown;
            };
        };
        /**
         * What a tool returned.
         * @example {
         *       "type": "tool_result",
         *       "id": "call_1",
         *       "name": "weather",
         *       "data": {
         *         "output": "21 degrees"
         *       }
         *     }
         */
        ToolResultDetail: {
            /**
             * The kind of the step, the same for all platforms.
             * @enum {string}
             */
            type: "tool_result";
            /** The id of the step on the platform. */
            id?: string;
            /** The name of the step or tool. */
            name?: string;
            /** The platform's word for the state of the step. */
            status?: string;
            /** What a step of this kind carries. */
            data: {
                /** All arguments of the tool, usually JSON. */
                arguments?: string;
                /** The output; empty if the platform sent none. */
                output: string;
            };
            /** How many milliseconds the step took. */
            elapsed_ms?: number;
            /** What the platform sent and the other fields do not hold, by the platform's names: further fields, and values of another type than expected. */
            raw?: {
                [key: string]: unknown;
            };
        };
        /**
         * What the agent considers, as its platform words it.
         * @example {
         *       "type": "thought",
         *       "data": {
         *         "text": "I should look that up."
         *       }
         *     }
         */
        ThoughtDetail: {
            /**
             * The kind of the step, the same for all platforms.
             * @enum {string}
             */
            type: "thought";
            /** The id of the step on the platform. */
            id?: string;
            /** The name of the step or tool. */
            name?: string;
            /** The platform's word for the state of the step. */
            status?: string;
            /** What a step of this kind carries. */
            data: {
                /** The thought. */
                text: string;
            };
            /** How many milliseconds the step took. */
            elapsed_ms?: number;
            /** What the platform sent and the other fields do not hold, by the platform's names: further fields, and values of another type than expected. */
            raw?: {
                [key: string]: unknown;
            };
        };
        /**
         * The reasoning of the model: in a stream a piece of it, in a JSON reply all up to the next step.
         * @example {
         *       "type": "reasoning",
         *       "data": {
         *         "text": "First, the question."
         *       }
         *     }
         */
        ReasoningDetail: {
            /**
             * The kind of the step, the same for all platforms.
             * @enum {string}
             */
            type: "reasoning";
            /** The id of the step on the platform. */
            id?: string;
            /** The name of the step or tool. */
            name?: string;
            /** The platform's word for the state of the step. */
            status?: string;
            /** What a step of this kind carries. */
            data: {
                /** The text. */
                text: string;
            };
            /** How many milliseconds the step took. */
            elapsed_ms?: number;
            /** What the platform sent and the other fields do not hold, by the platform's names: further fields, and values of another type than expected. */
            raw?: {
                [key: string]: unknown;
            };
        };
        /**
         * The documents on which the reply is based.
         * @example {
         *       "type": "sources",
         *       "data": {
         *         "items": [
         *           {
         *             "title": "guide.md",
         *             "text": "A gateway is …"
         *           }
         *         ]
         *       }
         *     }
         */
        SourcesDetail: {
            /**
             * The kind of the step, the same for all platforms.
             * @enum {string}
             */
            type: "sources";
            /** The id of the step on the platform. */
            id?: string;
            /** The name of the step or tool. */
            name?: string;
            /** The platform's word for the state of the step. */
            status?: string;
            /** What a step of this kind carries. */
            data: {
                /** The documents, in the order of the platform. */
                items: {
                    /** The title or the name of the document. */
                    title?: string;
                    /** Where the document can be read. */
                    url?: string;
                    /** The passage. */
                    text?: string;
                    /** The id of the document on the platform. */
                    document?: string;
                }[];
            };
            /** How many milliseconds the step took. */
            elapsed_ms?: number;
            /** What the platform sent and the other fields do not hold, by the platform's names: further fields, and values of another type than expected. */
            raw?: {
                [key: string]: unknown;
            };
        };
        /**
         * The variables of the conversation after this run.
         * @example {
         *       "type": "variables",
         *       "data": {
         *         "values": {
         *           "city": "Hangzhou"
         *         }
         *       }
         *     }
         */
        VariablesDetail: {
            /**
             * The kind of the step, the same for all platforms.
             * @enum {string}
             */
            type: "variables";
            /** The id of the step on the platform. */
            id?: string;
            /** The name of the step or tool. */
            name?: string;
            /** The platform's word for the state of the step. */
            status?: string;
            /** What a step of this kind carries. */
            data: {
                /** The variables by their names. */
                values: {
                    [key: string]: unknown;
                };
            };
            /** How many milliseconds the step took. */
            elapsed_ms?: number;
            /** What the platform sent and the other fields do not hold, by the platform's names: further fields, and values of another type than expected. */
            raw?: {
                [key: string]: unknown;
            };
        };
        /**
         * The platform waits for the user. The text of the reply has the question as well.
         * @example {
         *       "type": "interaction",
         *       "name": "userSelect",
         *       "data": {
         *         "question": "Which one?",
         *         "options": [
         *           "first",
         *           "second"
         *         ]
         *       }
         *     }
         */
        InteractionDetail: {
            /**
             * The kind of the step, the same for all platforms.
             * @enum {string}
             */
            type: "interaction";
            /** The id of the step on the platform. */
            id?: string;
            /** The name of the step or tool. */
            name?: string;
            /** The platform's word for the state of the step. */
            status?: string;
            /** What a step of this kind carries. */
            data: {
                /** The question. */
                question?: string;
                /** The answers to choose from; may be empty. */
                options: string[];
                /** The fields of a form, as the platform describes them. */
                form?: unknown;
            };
            /** How many milliseconds the step took. */
            elapsed_ms?: number;
            /** What the platform sent and the other fields do not hold, by the platform's names: further fields, and values of another type than expected. */
            raw?: {
                [key: string]: unknown;
            };
        };
        /**
         * The platform has withdrawn its text and sent another one; `status` is the reason that it gave.
         * @example {
         *       "type": "replaced",
         *       "data": {
         *         "text": "I cannot answer that."
         *       }
         *     }
         */
        ReplacedDetail: {
            /**
             * The kind of the step, the same for all platforms.
             * @enum {string}
             */
            type: "replaced";
            /** The id of the step on the platform. */
            id?: string;
            /** The name of the step or tool. */
            name?: string;
            /** The platform's word for the state of the step. */
            status?: string;
            /** What a step of this kind carries. */
            data: {
                /** The text that is the reply now. */
                text: string;
            };
            /** How many milliseconds the step took. */
            elapsed_ms?: number;
            /** What the platform sent and the other fields do not hold, by the platform's names: further fields, and values of another type than expected. */
            raw?: {
                [key: string]: unknown;
            };
        };
        /**
         * The agent has made a file, which is in `files` of the reply as well.
         * @example {
         *       "type": "file",
         *       "name": "chart.png",
         *       "data": {
         *         "type": "image",
         *         "url": "https://files.example.com/chart.png"
         *       }
         *     }
         */
        FileDetail: {
            /**
             * The kind of the step, the same for all platforms.
             * @enum {string}
             */
            type: "file";
            /** The id of the step on the platform. */
            id?: string;
            /** The name of the step or tool. */
            name?: string;
            /** The platform's word for the state of the step. */
            status?: string;
            /** What a step of this kind carries. */
            data: {
                /**
                 * The kind of the file.
                 * @enum {string}
                 */
                type: "image" | "document" | "audio" | "video";
                /** Where it can be read; absent where it cannot be reached. */
                url?: string;
                /** Its media type, where the platform reports it. */
                media_type?: string;
            };
            /** How many milliseconds the step took. */
            elapsed_ms?: number;
            /** What the platform sent and the other fields do not hold, by the platform's names: further fields, and values of another type than expected. */
            raw?: {
                [key: string]: unknown;
            };
        };
        /**
         * A step of another kind; `name` says of which.
         * @example {
         *       "type": "other",
         *       "name": "workflow_started",
         *       "data": {}
         *     }
         */
        OtherDetail: {
            /**
             * The kind of the step, the same for all platforms.
             * @enum {string}
             */
            type: "other";
            /** The id of the step on the platform. */
            id?: string;
            /** The name of the step or tool. */
            name?: string;
            /** The platform's word for the state of the step. */
            status?: string;
            /** What a step of this kind carries. */
            data: Record<string, never>;
            /** How many milliseconds the step took. */
            elapsed_ms?: number;
            /** What the platform sent and the other fields do not hold, by the platform's names: further fields, and values of another type than expected. */
            raw?: {
                [key: string]: unknown;
            };
        };
        /**
         * One step of the platform's progress, sent if `detail` is true. `type` is its kind.
         * @example {
         *       "type": "node_finished",
         *       "name": "Knowledge base search",
         *       "status": "succeeded",
         *       "elapsed_ms": 240,
         *       "data": {
         *         "node_type": "knowledge-retrieval"
         *       }
         *     }
         */
        DetailEvent: components["schemas"]["NodeStartedDetail"] | components["schemas"]["NodeFinishedDetail"] | components["schemas"]["ToolCallDetail"] | components["schemas"]["ToolResultDetail"] | components["schemas"]["ThoughtDetail"] | components["schemas"]["ReasoningDetail"] | components["schemas"]["SourcesDetail"] | components["schemas"]["VariablesDetail"] | components["schemas"]["InteractionDetail"] | components["schemas"]["ReplacedDetail"] | components["schemas"]["FileDetail"] | components["schemas"]["OtherDetail"];
        /**
         * A file that the agent has made. The text of the reply shows it as well, as Markdown.
         * @example {
         *       "url": "https://files.example.com/chart.png",
         *       "type": "image",
         *       "name": "chart.png"
         *     }
         */
        ReplyFile: {
            /** Where it can be read; absent where it cannot be reached. */
            url?: string;
            /**
             * The kind of the file.
             * @enum {string}
             */
            type: "image" | "document" | "audio" | "video";
            /** Its name, where the platform reports one. */
            name?: string;
            /** Its media type, where the platform reports it. */
            media_type?: string;
        };
        /**
         * A field of a form whose value is a line of text.
         * @example {
         *       "name": "comment",
         *       "type": "text",
         *       "required": false
         *     }
         */
        PauseTextField: {
            /** The name under which an answer has the value. */
            name: string;
            /** What to show beside the field. */
            label?: string;
            /**
             * What the value is.
             * @enum {string}
             */
            type: "text";
            /** Whether the answer needs a value. */
            required: boolean;
            /** The value where the answer has none. */
            default?: string;
        };
        /**
         * A field of a form whose value is a text of several lines.
         * @example {
         *       "name": "comment",
         *       "type": "paragraph",
         *       "required": false
         *     }
         */
        PauseParagraphField: {
            /** The name under which an answer has the value. */
            name: string;
            /** What to show beside the field. */
            label?: string;
            /**
             * What the value is.
             * @enum {string}
             */
            type: "paragraph";
            /** Whether the answer needs a value. */
            required: boolean;
            /** The value where the answer has none. */
            default?: string;
        };
        /**
         * A field of a form whose value is a number.
         * @example {
         *       "name": "comment",
         *       "type": "number",
         *       "required": false
         *     }
         */
        PauseNumberField: {
            /** The name under which an answer has the value. */
            name: string;
            /** What to show beside the field. */
            label?: string;
            /**
             * What the value is.
             * @enum {string}
             */
            type: "number";
            /** Whether the answer needs a value. */
            required: boolean;
            /** The value where the answer has none. */
            default?: number;
        };
        /**
         * A field of a form whose value is one of `options`.
         * @example {
         *       "name": "comment",
         *       "type": "select",
         *       "required": false,
         *       "options": [
         *         "a",
         *         "b"
         *       ]
         *     }
         */
        PauseSelectField: {
            /** The name under which an answer has the value. */
            name: string;
            /** What to show beside the field. */
            label?: string;
            /**
             * What the value is.
             * @enum {string}
             */
            type: "select";
            /** Whether the answer needs a value. */
            required: boolean;
            /** The values to choose from. */
            options: string[];
            /** The value where the answer has none. */
            default?: string;
        };
        /**
         * A field of a form whose value is true or false.
         * @example {
         *       "name": "comment",
         *       "type": "checkbox",
         *       "required": false
         *     }
         */
        PauseCheckboxField: {
            /** The name under which an answer has the value. */
            name: string;
            /** What to show beside the field. */
            label?: string;
            /**
             * What the value is.
             * @enum {string}
             */
            type: "checkbox";
            /** Whether the answer needs a value. */
            required: boolean;
            /** The value where the answer has none. */
            default?: boolean;
        };
        /**
         * A field of a form whose value is the URL of a file.
         * @example {
         *       "name": "comment",
         *       "type": "file",
         *       "required": false
         *     }
         */
        PauseFileField: {
            /** The name under which an answer has the value. */
            name: string;
            /** What to show beside the field. */
            label?: string;
            /**
             * What the value is.
             * @enum {string}
             */
            type: "file";
            /** Whether the answer needs a value. */
            required: boolean;
            /** The value where the answer has none. */
            default?: string;
        };
        /**
         * A field of a form whose value is a list of the URLs of files.
         * @example {
         *       "name": "comment",
         *       "type": "file-list",
         *       "required": false
         *     }
         */
        PauseFileListField: {
            /** The name under which an answer has the value. */
            name: string;
            /** What to show beside the field. */
            label?: string;
            /**
             * What the value is.
             * @enum {string}
             */
            type: "file-list";
            /** Whether the answer needs a value. */
            required: boolean;
            /** The value where the answer has none. */
            default?: string[];
        };
        /**
         * A field of the form that a pause shows. `type` says what its value is.
         * @example {
         *       "name": "comment",
         *       "type": "paragraph",
         *       "required": false
         *     }
         */
        PauseField: components["schemas"]["PauseTextField"] | components["schemas"]["PauseParagraphField"] | components["schemas"]["PauseNumberField"] | components["schemas"]["PauseSelectField"] | components["schemas"]["PauseCheckboxField"] | components["schemas"]["PauseFileField"] | components["schemas"]["PauseFileListField"];
        /**
         * The run waits for the user. The next chat in the same conversation is the answer, by its text or by `answer`.
         * @example {
         *       "id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *       "question": "Send the offer?",
         *       "options": [
         *         {
         *           "id": "approve",
         *           "title": "Approve"
         *         },
         *         {
         *           "id": "reject",
         *           "title": "Reject"
         *         }
         *       ],
         *       "fields": [
         *         {
         *           "name": "comment",
         *           "type": "paragraph",
         *           "required": false
         *         }
         *       ],
         *       "expires_at": "2026-11-30T12:00:00.000Z"
         *     }
         */
        Pause: {
            /** The id of the pause, which an answer names. It is that of the call that has paused. */
            id: string;
            /** What the user is asked; may be empty. */
            question: string;
            /** The answers to choose from; may be empty. */
            options: {
                /** What an answer sends as `option`. */
                id: string;
                /** What to show. */
                title: string;
            }[];
            /** The fields of a form; may be empty. */
            fields: components["schemas"]["PauseField"][];
            /**
             * Format: date-time
             *
             * Until when it can be answered; absent if that has no end.
             */
            expires_at?: string;
        };
        /**
         * The answer to a pause. It names its pause, so that a second click answers nothing else. `query` may be empty beside it.
         * @example {
         *       "pause": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *       "option": "approve"
         *     }
         */
        PauseAnswer: {
            /** The id of the pause. */
            pause: string;
            /** The id of the option that was chosen. */
            option?: string;
            /** The values of the form by the names of its fields. */
            fields?: {
                [key: string]: unknown;
            };
            /** Any JSON, which keeps its type: the answer to a pause without fields, in place of `option` and `fields`. */
            value?: unknown;
            /** True gives the pause up and stops the run where its platform can. `query`, if it is not empty, is an ordinary message then. */
            cancel?: boolean;
        };
        /**
         * A message to an agent. The seven fields of the interface are all required; unknown fields are ignored.
         * @example {
         *       "app_id": "demo",
         *       "chat_id": "demo-1",
         *       "stream": false,
         *       "detail": false,
         *       "query": "Hello",
         *       "conversation_id": "",
         *       "files": []
         *     }
         */
        ChatRequest: {
            /** The id of the application on the platform. It must not be empty for fastgpt, nor for coze where the gateway has no default bot. */
            app_id: string;
            /** The conversation to continue, for every agent but hiagent, which ignores this field. If it is empty, `conversation_id` counts; if both are empty, a new conversation begins. */
            chat_id: string;
            /** True returns the reply as server-sent events, false as one JSON object. */
            stream: boolean;
            /** True adds the platform's progress (DetailEvent) to the reply. */
            detail: boolean;
            /** The message to the agent. It must not be blank, except beside `answer`. */
            query: string;
            /** The conversation to continue, for hiagent, which requires it. For other agents it counts only if `chat_id` is empty. */
            conversation_id: string;
            /** The http(s) URLs of files for the agent: those of your uploads, or other public ones. May be empty. */
            files: string[];
            /** The end user on whose behalf the caller asks. Conversations of different end users are kept apart. It is not believed where a trusted proxy names the end users of requests. */
            user?: string;
            /** The input variables of the platform's application. */
            variables?: {
                [key: string]: unknown;
            };
            /** The answer to a pause. It names its pause, so that a second click answers nothing else. `query` may be empty beside it. */
            answer?: components["schemas"]["PauseAnswer"];
        };
        /**
         * The whole reply of an agent.
         * @example {
         *       "id": "demo-1",
         *       "object": "chat.completion",
         *       "created": 1795161600,
         *       "model": "fastgpt",
         *       "usage": {
         *         "prompt_tokens": 12,
         *         "completion_tokens": 5,
         *         "total_tokens": 17
         *       },
         *       "choices": [
         *         {
         *           "index": 0,
         *           "message": {
         *             "role": "assistant",
         *             "content": "Hello there."
         *           },
         *           "finish_reason": "stop"
         *         }
         *       ]
         *     }
         */
        ChatReply: {
            /** The id of the conversation. Send it with the next message (`conversation_id` for hiagent, `chat_id` for all others) to continue. */
            id: string;
            /**
             * Always `chat.completion`.
             * @enum {string}
             */
            object: "chat.completion";
            /** When the call began, in seconds since 1970. */
            created: number;
            /** The model that the platform named, or else the agent. */
            model: string;
            /** The tokens of the call as the platform reported them; absent where it reported none. */
            usage?: components["schemas"]["TokenUsage"];
            /** Always exactly one choice. */
            choices: {
                /** Always 0. */
                index: number;
                /** The agent's message. */
                message: {
                    /**
                     * Always `assistant`.
                     * @enum {string}
                     */
                    role: "assistant";
                    /** The text of the reply. */
                    content: string;
                };
                /**
                 * Why the reply ended. `stop`: The reply is complete. `length`: The platform cut the reply at a length limit, such as the model's limit of tokens. `content_filter`: The platform cut the reply for its content. `tool_calls`: The model asks for the output of tools.
                 * @enum {string}
                 */
                finish_reason: "stop" | "length" | "content_filter" | "tool_calls";
            }[];
            /** The steps of the platform's progress, in order; present only if `detail` was true. */
            detail?: components["schemas"]["DetailEvent"][];
            /** The files that the agent has made, at most 20. */
            files?: components["schemas"]["ReplyFile"][];
            /** The run waits for the user. The next chat in the same conversation is the answer, by its text or by `answer`. */
            pause?: components["schemas"]["Pause"];
        };
        /**
         * One `data:` line of a stream. In the last chunk `content` is null and `finish_reason` is set; the line `data: [DONE]` follows it.
         * @example {
         *       "id": "demo-1",
         *       "object": "chat.completion.chunk",
         *       "created": 1795161600,
         *       "model": "fastgpt",
         *       "choices": [
         *         {
         *           "index": 0,
         *           "delta": {
         *             "role": "assistant",
         *             "content": "Hello"
         *           },
         *           "finish_reason": null
         *         }
         *       ]
         *     }
         */
        ChatChunk: {
            /** The id of the conversation. Send it with the next message (`conversation_id` for hiagent, `chat_id` for all others) to continue. */
            id: string;
            /**
             * Always `chat.completion.chunk`.
             * @enum {string}
             */
            object: "chat.completion.chunk";
            /** When the call began, in seconds since 1970. */
            created: number;
            /** The model that the platform named, or else the agent. */
            model: string;
            /** Always exactly one choice. */
            choices: {
                /** Always 0. */
                index: number;
                /** What this chunk adds to the message. */
                delta: {
                    /**
                     * Always `assistant`.
                     * @enum {string}
                     */
                    role: "assistant";
                    /** The next piece of the text; null in the last chunk. */
                    content: string | null;
                };
                /** Why the reply ended; null in every chunk but the last. */
                finish_reason: ("stop" | "length" | "content_filter" | "tool_calls") | null;
            }[];
            /** The tokens of the call as the platform reported them; absent where it reported none. */
            usage?: components["schemas"]["TokenUsage"];
            /** One step of the platform's progress, sent if `detail` is true. `type` is its kind. */
            detail?: components["schemas"]["DetailEvent"];
            /** The files that the agent has made, at most 20. */
            files?: components["schemas"]["ReplyFile"][];
            /** The run waits for the user. The next chat in the same conversation is the answer, by its text or by `answer`. */
            pause?: components["schemas"]["Pause"];
        };
        /**
         * The last `data:` line of a stream that failed. Neither a chunk with a `finish_reason` nor `[DONE]` follows it.
         * @example {
         *       "error": {
         *         "message": "The agent platform's reply broke off.",
         *         "type": "server_error",
         *         "code": "agent_truncated",
         *         "param": null
         *       }
         *     }
         */
        StreamError: {
            /** The error. */
            error: {
                /** What went wrong, for people. */
                message: string;
                /** OpenAI's class of the error. */
                type: string;
                /** The same stable word as the `reason` of an error body. */
                code: string;
                /** Always null: the request itself was accepted. */
                param: null;
            };
        };
        /**
         * An agent that can be called.
         * @example {
         *       "id": "fastgpt",
         *       "name": "FastGPT",
         *       "platform": "fastgpt",
         *       "description": "",
         *       "features": {
         *         "stream": true,
         *         "detail": true,
         *         "files": true,
         *         "conversation": true,
         *         "usage": true,
         *         "stop": true,
         *         "conversations": {
         *           "history": true,
         *           "rename": true,
         *           "delete": true,
         *           "feedback": true
         *         }
         *       },
         *       "apps": [],
         *       "sandbox": true,
         *       "status": "available",
         *       "status_since": null,
         *       "status_reason": null,
         *       "requires": [
         *         "app_id"
         *       ]
         *     }
         */
        Agent: {
            /** The id of the agent: the value of the `Agent` header of a chat. */
            id: string;
            /** The name to show to people. */
            name: string;
            /**
             * The platform on which the agent runs, such as `dify`.
             * @enum {string}
             */
            platform: "fastgpt" | "hiagent" | "dify" | "coze" | "openai" | "a2a" | "langgraph";
            /** What the agent does, as its operator describes it. */
            description: string;
            /** What the agent supports. */
            features: {
                /** Replies can be streamed. */
                stream: boolean;
                /** The platform's progress can be requested with `detail`. */
                detail: boolean;
                /** The agent accepts files. */
                files: boolean;
                /** The agent can continue a conversation. */
                conversation: boolean;
                /** The platform reports tokens. */
                usage: boolean;
                /** A call can be stopped on the platform before it ends. */
                stop: boolean;
                /** What can be done with the conversations of the agent. */
                conversations: {
                    /** Their messages can be read. */
                    history: boolean;
                    /** They can be given names. */
                    rename: boolean;
                    /** They can be deleted, at the platform as well if it keeps them. */
                    delete: boolean;
                    /** Answers can be rated. */
                    feedback: boolean;
                };
            };
            /** The agent's apps, as far as they are configured. */
            apps: {
                /** The id of the app among those of the agent, by which a chat names it. */
                id: string;
                /** The name to show to people. */
                name: string;
            }[];
            /** True for an emulator that is part of the gateway, false for a real platform. */
            sandbox: boolean;
            /**
             * Whether the agent can serve calls. `available`: calls can be served. `degraded`: a part of what serves the agent cannot serve calls, or a platform is busy or refuses the credentials of the gateway. `unavailable`: no process of the gateway has a way to the agent, or the platform does not answer.
             * @enum {string}
             */
            status: "available" | "degraded" | "unavailable";
            /** Since when the agent is not `available`, as far as calls and probes have shown it; null if it is, or if that is unknown. */
            status_since: string | null;
            /** Why it is not `available`, as the stable word of an error, such as `agent_unreachable`; null if it is, or if that is unknown. */
            status_reason: (ErrorReason | (string & {})) | null;
            /** The fields of a chat request that must not be empty for this agent. */
            requires: ("app_id" | "conversation_id")[];
        };
        /**
         * A deployment of an agent: one platform, or one key of it, that answers for the agent. Shown only to administrators.
         * @example {
         *       "id": "eu",
         *       "weight": 3,
         *       "priority": 0,
         *       "state": "shared",
         *       "disabled": false,
         *       "status": "available",
         *       "status_since": null,
         *       "status_reason": null,
         *       "probe_ms": 41,
         *       "breaker": "closed",
         *       "calls_in_flight": 3,
         *       "processes": [
         *         {
         *           "instance_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *           "host": "gateway-1",
         *           "pid": 17,
         *           "version": "1.4.0",
         *           "breaker": "closed",
         *           "calls_in_flight": 3,
         *           "open_since": null,
         *           "reason": null
         *         }
         *       ]
         *     }
         */
        AgentDeployment: {
            /** The id of the deployment, unique within its agent; `main` where the configuration lists none. */
            id: string;
            /** Its share of the new conversations among the deployments of its priority. */
            weight: number;
            /** The lowest priority that can serve a call is chosen. */
            priority: number;
            /** The name of what the platform stores for it. Conversations and files may move between deployments of the same state. */
            state: string;
            /** Whether it takes no new conversations and only serves those that it has. */
            disabled: boolean;
            /**
             * What a probe of the platform said some seconds ago. `available`: calls can be served. `degraded`: a part of what serves the agent cannot serve calls, or a platform is busy or refuses the credentials of the gateway. `unavailable`: no process of the gateway has a way to the agent, or the platform does not answer.
             * @enum {string}
             */
            status: "available" | "degraded" | "unavailable";
            /** Since when the probes of this process have not found it `available`; null if it is. Probes are sent only when the status is requested. */
            status_since: string | null;
            /** Why the probe failed, as the stable word of an error; null if it did not, or if the platform is only busy. */
            status_reason: (ErrorReason | (string & {})) | null;
            /** How long the probe took, in milliseconds. */
            probe_ms: number;
            /**
             * The worst state among the processes. `closed`: calls are sent there, though those of an owner whose own calls fail there may be refused. `half_open`: one call tries whether it works again; others are not sent there. `open`: no calls are sent there, because too many failed.
             * @enum {string}
             */
            breaker: "closed" | "half_open" | "open";
            /** The calls in progress of all processes. */
            calls_in_flight: number;
            /** The live processes of the gateway that serve the deployment. Of the others than the one that answers, what is shown is up to ten seconds old. */
            processes: {
                /**
                 * Format: uuid
                 *
                 * The id of the process, which all of its log lines have.
                 * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
                 */
                instance_id: string;
                /** The name of its machine. */
                host: string | null;
                /** Its process id on that machine. */
                pid: number | null;
                /** Its version. */
                version: string | null;
                /**
                 * Whether the process sends calls to the deployment. `closed`: calls are sent there, though those of an owner whose own calls fail there may be refused. `half_open`: one call tries whether it works again; others are not sent there. `open`: no calls are sent there, because too many failed.
                 * @enum {string}
                 */
                breaker: "closed" | "half_open" | "open";
                /** Its calls in progress at the deployment. */
                calls_in_flight: number;
                /** When the process stopped sending calls there; null if it sends them. */
                open_since: string | null;
                /** Why, as the stable word of an error; null if it sends them. */
                reason: (ErrorReason | (string & {})) | null;
            }[];
        };
        /**
         * A user, as a login returns it.
         * @example {
         *       "id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *       "username": "alice",
         *       "role": "premium",
         *       "status": "active",
         *       "created_at": "2026-11-20T08:30:00.000Z",
         *       "updated_at": "2026-11-20T08:30:00.000Z",
         *       "last_login": null,
         *       "api_calls_count": 812,
         *       "max_api_calls": 10000
         *     }
         */
        User: {
            /**
             * Format: uuid
             *
             * The id of the user.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            id: string;
            /** The name with which the user logs in; unique without regard to case. */
            username: string;
            /**
             * What the user may do. `admin`: manages all users and keys, and sees all usage. `premium`: creates API keys for itself. `user`: sees only itself, and uses the keys that an administrator created for it.
             * @enum {string}
             */
            role: "admin" | "premium" | "user";
            /**
             * Whether the user may use the gateway. `active`: the user may log in, and its keys work. `suspended`: the tokens and keys of the user are refused, and the calls that ran with these keys have ended.
             * @enum {string}
             */
            status: "active" | "suspended";
            /**
             * Format: date-time
             *
             * When the user was created (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             *
             * When the user was last changed (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            updated_at: string;
            /** When the user last logged in; null if never. */
            last_login: string | null;
            /** How many calls the user has made in the current quota period; all calls ever if there is no period. */
            api_calls_count: number;
            /** How many calls the user may make in a quota period; 0 allows none. */
            max_api_calls: number;
        };
        /**
         * The credentials of a user.
         * @example {
         *       "username": "admin",
         *       "password": "correct horse battery staple"
         *     }
         */
        LoginRequest: {
            /** The username; upper and lower case are the same. */
            username: string;
            /** The password of the user. */
            password: string;
        };
        /**
         * An access token and the user that it belongs to.
         * @example {
         *       "access_token": "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIwMTlhOWYzZSJ9.c2lnbmF0dXJl",
         *       "token_type": "bearer",
         *       "expires_in": 3600,
         *       "user": {
         *         "id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *         "username": "alice",
         *         "role": "premium",
         *         "status": "active",
         *         "created_at": "2026-11-20T08:30:00.000Z",
         *         "updated_at": "2026-11-20T08:30:00.000Z",
         *         "last_login": null,
         *         "api_calls_count": 812,
         *         "max_api_calls": 10000
         *       }
         *     }
         */
        LoginResponse: {
            /**
             * A JWT. Send it in the header `Authorization: Bearer <access_token>`.
             * @example eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIwMTlhOWYzZSJ9.c2lnbmF0dXJl
             */
            access_token: string;
            /**
             * Always `bearer`.
             * @enum {string}
             */
            token_type: "bearer";
            /**
             * The lifetime of the token in seconds.
             * @example 3600
             */
            expires_in: number;
            /** A user, as a login returns it. */
            user: components["schemas"]["User"];
        };
        /**
         * The record of an API key, without the key itself, which only its creation shows.
         * @example {
         *       "id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *       "name": "support bot",
         *       "description": "Answers on the help page.",
         *       "key_prefix": "tl_0fQ7sXbV2",
         *       "created_at": "2026-11-20T08:30:00.000Z",
         *       "expires_at": "2027-11-20T08:30:00.000Z",
         *       "revoked_at": null,
         *       "last_used_at": "2026-11-21T09:02:00.000Z",
         *       "rotated_at": null,
         *       "secrets": [
         *         {
         *           "key_prefix": "tl_0fQ7sXbV2",
         *           "last_used_at": "2026-11-21T09:02:00.000Z",
         *           "ends_at": null
         *         }
         *       ],
         *       "permissions": [
         *         "chat"
         *       ],
         *       "is_active": true,
         *       "state": "active",
         *       "paused_at": null,
         *       "created_by": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12",
         *       "owner_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12",
         *       "allowed_agents": [
         *         "fastgpt",
         *         "dify/helpdesk"
         *       ],
         *       "allowed_addresses": [
         *         "192.0.2.0/24"
         *       ],
         *       "limits": {
         *         "chat_per_minute": 20,
         *         "upload_per_minute": null
         *       },
         *       "usage": {
         *         "total_calls": 812,
         *         "calls_today": 31,
         *         "calls_this_month": 406,
         *         "last_used_at": "2026-11-21T09:02:00.000Z"
         *       }
         *     }
         */
        ApiKey: {
            /**
             * Format: uuid
             *
             * The id of the key record, which is not the key itself.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            id: string;
            /** A label for the key, such as `support bot`. */
            name: string;
            /** What the key is for. */
            description: string;
            /** The first 12 characters of the present secret of the key, by which people can recognise it. */
            key_prefix: string;
            /**
             * Format: date-time
             *
             * When the key was created (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             *
             * When the key expires (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            expires_at: string;
            /** When the key was revoked; null if it was not. */
            revoked_at: string | null;
            /** When the key was last used; null if never. */
            last_used_at: string | null;
            /** When the present secret was made; null if it is the first one. */
            rotated_at: string | null;
            /** The secrets with which the key can be used: the present one, and, for the overlap after a rotation, the one before. */
            secrets: {
                /** The first 12 characters of the secret, by which people can recognise it. */
                key_prefix: string;
                /** When the secret was last used; null if never. */
                last_used_at: string | null;
                /** When the secret can no longer be used; null for the present one. */
                ends_at: string | null;
            }[];
            /** What the key may be used for. */
            permissions: ("chat" | "upload" | "admin")[];
            /** Whether the key can be used: false while it is paused, and once it is revoked or has expired. */
            is_active: boolean;
            /**
             * Whether the key can be used, and why not. `active`: the key can be used. `paused`: the key is paused, and can be used again once that is lifted. `expired`: the key has expired, and was not revoked before. `revoked`: the key was revoked.
             * @enum {string}
             */
            state: "active" | "paused" | "expired" | "revoked";
            /** When the key was paused; null if it is not. */
            paused_at: string | null;
            /**
             * Format: uuid
             *
             * The id of the user who created the key.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            created_by: string;
            /**
             * Format: uuid
             *
             * The id of the user whom the key belongs to and whose quota its calls count towards.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            owner_id: string;
            /** The agents that the key may call, each as `agent` or, for one app alone, `agent/app`. Null allows all agents. */
            allowed_agents: string[] | null;
            /** The network addresses from which the key may be used, each alone or as a range in CIDR notation, IPv4 or IPv6. Null allows all addresses. */
            allowed_addresses: string[] | null;
            /** The key's own rate limits. Where one is null, the gateway's limit applies. Only administrators may set one above the gateway's, up to `limits.maxPerKey` of the configuration. */
            limits: {
                /** The chats that the key may start in a minute. */
                chat_per_minute: number | null;
                /** The uploads that the key may make in a minute. */
                upload_per_minute: number | null;
            };
            /** The key's call counters. */
            usage: {
                /** The calls since the key was created or this counter was reset. */
                total_calls: number;
                /** The calls since midnight UTC. */
                calls_today: number;
                /** The calls since the first of the month, UTC. */
                calls_this_month: number;
                /** When the key was last used; null if never. */
                last_used_at: string | null;
            };
        };
        /**
         * The record of a new API key together with the key itself.
         * @example {
         *       "id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *       "name": "support bot",
         *       "description": "Answers on the help page.",
         *       "key_prefix": "tl_0fQ7sXbV2",
         *       "created_at": "2026-11-20T08:30:00.000Z",
         *       "expires_at": "2027-11-20T08:30:00.000Z",
         *       "revoked_at": null,
         *       "last_used_at": "2026-11-21T09:02:00.000Z",
         *       "rotated_at": null,
         *       "secrets": [
         *         {
         *           "key_prefix": "tl_0fQ7sXbV2",
         *           "last_used_at": "2026-11-21T09:02:00.000Z",
         *           "ends_at": null
         *         }
         *       ],
         *       "permissions": [
         *         "chat"
         *       ],
         *       "is_active": true,
         *       "state": "active",
         *       "paused_at": null,
         *       "created_by": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12",
         *       "owner_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12",
         *       "allowed_agents": [
         *         "fastgpt",
         *         "dify/helpdesk"
         *       ],
         *       "allowed_addresses": [
         *         "192.0.2.0/24"
         *       ],
         *       "limits": {
         *         "chat_per_minute": 20,
         *         "upload_per_minute": null
         *       },
         *       "usage": {
         *         "total_calls": 812,
         *         "calls_today": 31,
         *         "calls_this_month": 406,
         *         "last_used_at": "2026-11-21T09:02:00.000Z"
         *       },
         *       "full_key": "tl_0000000000000000000000000000000000000000000000000"
         *     }
         */
        CreatedApiKey: {
            /**
             * Format: uuid
             *
             * The id of the key record, which is not the key itself.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            id: string;
            /** A label for the key, such as `support bot`. */
            name: string;
            /** What the key is for. */
            description: string;
            /** The first 12 characters of the present secret of the key, by which people can recognise it. */
            key_prefix: string;
            /**
             * Format: date-time
             *
             * When the key was created (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             *
             * When the key expires (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            expires_at: string;
            /** When the key was revoked; null if it was not. */
            revoked_at: string | null;
            /** When the key was last used; null if never. */
            last_used_at: string | null;
            /** When the present secret was made; null if it is the first one. */
            rotated_at: string | null;
            /** The secrets with which the key can be used: the present one, and, for the overlap after a rotation, the one before. */
            secrets: {
                /** The first 12 characters of the secret, by which people can recognise it. */
                key_prefix: string;
                /** When the secret was last used; null if never. */
                last_used_at: string | null;
                /** When the secret can no longer be used; null for the present one. */
                ends_at: string | null;
            }[];
            /** What the key may be used for. */
            permissions: ("chat" | "upload" | "admin")[];
            /** Whether the key can be used: false while it is paused, and once it is revoked or has expired. */
            is_active: boolean;
            /**
             * Whether the key can be used, and why not. `active`: the key can be used. `paused`: the key is paused, and can be used again once that is lifted. `expired`: the key has expired, and was not revoked before. `revoked`: the key was revoked.
             * @enum {string}
             */
            state: "active" | "paused" | "expired" | "revoked";
            /** When the key was paused; null if it is not. */
            paused_at: string | null;
            /**
             * Format: uuid
             *
             * The id of the user who created the key.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            created_by: string;
            /**
             * Format: uuid
             *
             * The id of the user whom the key belongs to and whose quota its calls count towards.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            owner_id: string;
            /** The agents that the key may call, each as `agent` or, for one app alone, `agent/app`. Null allows all agents. */
            allowed_agents: string[] | null;
            /** The network addresses from which the key may be used, each alone or as a range in CIDR notation, IPv4 or IPv6. Null allows all addresses. */
            allowed_addresses: string[] | null;
            /** The key's own rate limits. Where one is null, the gateway's limit applies. Only administrators may set one above the gateway's, up to `limits.maxPerKey` of the configuration. */
            limits: {
                /** The chats that the key may start in a minute. */
                chat_per_minute: number | null;
                /** The uploads that the key may make in a minute. */
                upload_per_minute: number | null;
            };
            /** The key's call counters. */
            usage: {
                /** The calls since the key was created or this counter was reset. */
                total_calls: number;
                /** The calls since midnight UTC. */
                calls_today: number;
                /** The calls since the first of the month, UTC. */
                calls_this_month: number;
                /** When the key was last used; null if never. */
                last_used_at: string | null;
            };
            /** The API key itself. It is shown only in this response, so store it now. */
            full_key: string;
        };
        /**
         * The record of the API key of the request, with its rate limits and what is left of its quota.
         * @example {
         *       "id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *       "name": "support bot",
         *       "description": "Answers on the help page.",
         *       "key_prefix": "tl_0fQ7sXbV2",
         *       "created_at": "2026-11-20T08:30:00.000Z",
         *       "expires_at": "2027-11-20T08:30:00.000Z",
         *       "revoked_at": null,
         *       "last_used_at": "2026-11-21T09:02:00.000Z",
         *       "rotated_at": null,
         *       "secrets": [
         *         {
         *           "key_prefix": "tl_0fQ7sXbV2",
         *           "last_used_at": "2026-11-21T09:02:00.000Z",
         *           "ends_at": null
         *         }
         *       ],
         *       "permissions": [
         *         "chat"
         *       ],
         *       "is_active": true,
         *       "state": "active",
         *       "paused_at": null,
         *       "created_by": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12",
         *       "owner_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12",
         *       "allowed_agents": [
         *         "fastgpt",
         *         "dify/helpdesk"
         *       ],
         *       "allowed_addresses": [
         *         "192.0.2.0/24"
         *       ],
         *       "limits": {
         *         "chat_per_minute": 20,
         *         "upload_per_minute": null
         *       },
         *       "usage": {
         *         "total_calls": 812,
         *         "calls_today": 31,
         *         "calls_this_month": 406,
         *         "last_used_at": "2026-11-21T09:02:00.000Z"
         *       },
         *       "rate_limits": {
         *         "chat_per_minute": 20,
         *         "upload_per_minute": 30
         *       },
         *       "quota": {
         *         "max_api_calls": 10000,
         *         "api_calls_count": 812,
         *         "remaining": 9188,
         *         "quota_period": "month",
         *         "resets_at": "2026-12-01T00:00:00.000Z"
         *       }
         *     }
         */
        CurrentApiKey: {
            /**
             * Format: uuid
             *
             * The id of the key record, which is not the key itself.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            id: string;
            /** A label for the key, such as `support bot`. */
            name: string;
            /** What the key is for. */
            description: string;
            /** The first 12 characters of the present secret of the key, by which people can recognise it. */
            key_prefix: string;
            /**
             * Format: date-time
             *
             * When the key was created (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             *
             * When the key expires (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            expires_at: string;
            /** When the key was revoked; null if it was not. */
            revoked_at: string | null;
            /** When the key was last used; null if never. */
            last_used_at: string | null;
            /** When the present secret was made; null if it is the first one. */
            rotated_at: string | null;
            /** The secrets with which the key can be used: the present one, and, for the overlap after a rotation, the one before. */
            secrets: {
                /** The first 12 characters of the secret, by which people can recognise it. */
                key_prefix: string;
                /** When the secret was last used; null if never. */
                last_used_at: string | null;
                /** When the secret can no longer be used; null for the present one. */
                ends_at: string | null;
            }[];
            /** What the key may be used for. */
            permissions: ("chat" | "upload" | "admin")[];
            /** Whether the key can be used: false while it is paused, and once it is revoked or has expired. */
            is_active: boolean;
            /**
             * Whether the key can be used, and why not. `active`: the key can be used. `paused`: the key is paused, and can be used again once that is lifted. `expired`: the key has expired, and was not revoked before. `revoked`: the key was revoked.
             * @enum {string}
             */
            state: "active" | "paused" | "expired" | "revoked";
            /** When the key was paused; null if it is not. */
            paused_at: string | null;
            /**
             * Format: uuid
             *
             * The id of the user who created the key.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            created_by: string;
            /**
             * Format: uuid
             *
             * The id of the user whom the key belongs to and whose quota its calls count towards.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            owner_id: string;
            /** The agents that the key may call, each as `agent` or, for one app alone, `agent/app`. Null allows all agents. */
            allowed_agents: string[] | null;
            /** The network addresses from which the key may be used, each alone or as a range in CIDR notation, IPv4 or IPv6. Null allows all addresses. */
            allowed_addresses: string[] | null;
            /** The key's own rate limits. Where one is null, the gateway's limit applies. Only administrators may set one above the gateway's, up to `limits.maxPerKey` of the configuration. */
            limits: {
                /** The chats that the key may start in a minute. */
                chat_per_minute: number | null;
                /** The uploads that the key may make in a minute. */
                upload_per_minute: number | null;
            };
            /** The key's call counters. */
            usage: {
                /** The calls since the key was created or this counter was reset. */
                total_calls: number;
                /** The calls since midnight UTC. */
                calls_today: number;
                /** The calls since the first of the month, UTC. */
                calls_this_month: number;
                /** When the key was last used; null if never. */
                last_used_at: string | null;
            };
            /** The rate limits that apply to this key, converted to a minute where the gateway counts in windows of another length. */
            rate_limits: {
                /** The chats that the key may start in a minute. */
                chat_per_minute: number;
                /** The uploads that the key may make in a minute. */
                upload_per_minute: number;
            };
            /** The quota of the owner, which all its keys share. */
            quota: {
                /** How many calls the user may make in a quota period; 0 allows none. */
                max_api_calls: number;
                /** How many calls the user has made in the current quota period; all calls ever if there is no period. */
                api_calls_count: number;
                /** How many calls are left in the current quota period. */
                remaining: number;
                /**
                 * How often the calls are counted from zero. `none`: never: the quota holds for all calls ever. `day`: at midnight, UTC. `month`: on the first of the month, UTC.
                 * @enum {string}
                 */
                quota_period: "none" | "day" | "month";
                /** When the next period begins; null if there is no period. */
                resets_at: string | null;
            };
        };
        /**
         * A new API key.
         * @example {
         *       "name": "support bot",
         *       "description": "Answers on the help page.",
         *       "expires_at": "2027-01-31T00:00:00Z",
         *       "permissions": [
         *         "chat"
         *       ]
         *     }
         */
        CreateApiKey: {
            /** A label for the key, such as `support bot`, at most 100 characters. */
            name: string;
            /** What the key is for, at most 500 characters; may be empty. */
            description: string;
            /** When the key expires: a time in the future, in ISO 8601 with a time zone, or a date alone, which is the end of that day in UTC. By default it is at most ten years ahead (`apiKeys.maxLifetimeDays`). */
            expires_at: string;
            /** What the key may be used for, at least one. Only administrators may grant `admin`. */
            permissions: ("chat" | "upload" | "admin")[];
            /**
             * Format: uuid
             *
             * The id of the user whom the key will belong to; the default is the caller. Only administrators may name another user.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            owner_id?: string;
            /** The agents that the key may call, each as `agent` or, for one app alone, `agent/app`. Null allows all agents. */
            allowed_agents?: string[] | null;
            /** The network addresses from which the key may be used, each alone or as a range in CIDR notation, IPv4 or IPv6. Null allows all addresses. */
            allowed_addresses?: string[] | null;
            /** The key's own rate limits. Only administrators may set one above the gateway's, up to `limits.maxPerKey` of the configuration. Null removes them, so that the limits of the gateway apply. Where the gateway counts in windows of another length than a minute, the values are scaled to that length, to at least 1. */
            limits?: {
                /** The chats that the key may start in a minute; null removes this limit. */
                chat_per_minute?: number | null;
                /** The uploads that the key may make in a minute; null removes this limit. */
                upload_per_minute?: number | null;
            } | null;
        };
        /**
         * The fields to change. A field that is absent keeps its value.
         * @example {
         *       "limits": {
         *         "chat_per_minute": 20
         *       }
         *     }
         */
        UpdateApiKey: {
            /** A label for the key, such as `support bot`, at most 100 characters. */
            name?: string;
            /** What the key is for, at most 500 characters; may be empty. */
            description?: string;
            /** When the key expires: a time in the future, in ISO 8601 with a time zone, or a date alone, which is the end of that day in UTC. By default it is at most ten years ahead (`apiKeys.maxLifetimeDays`). A key that has expired becomes active again by it, if its owner may have another active key; a revoked one stays revoked. */
            expires_at?: string;
            /** False pauses the key, and true lifts the pause. Only administrators lift what an administrator has paused. */
            is_active?: boolean;
            /** The agents that the key may call, each as `agent` or, for one app alone, `agent/app`. Null allows all agents. */
            allowed_agents?: string[] | null;
            /** The network addresses from which the key may be used, each alone or as a range in CIDR notation, IPv4 or IPv6. Null allows all addresses. */
            allowed_addresses?: string[] | null;
            /** The key's own rate limits. Only administrators may set one above the gateway's, up to `limits.maxPerKey` of the configuration. Null removes them, so that the limits of the gateway apply. Where the gateway counts in windows of another length than a minute, the values are scaled to that length, to at least 1. */
            limits?: {
                /** The chats that the key may start in a minute; null removes this limit. */
                chat_per_minute?: number | null;
                /** The uploads that the key may make in a minute; null removes this limit. */
                upload_per_minute?: number | null;
            } | null;
        };
        /**
         * How an API key gets another secret.
         * @example {
         *       "overlap_seconds": 86400
         *     }
         */
        RotateApiKey: {
            /** How long the secret before the new one can still be used, in seconds; a day by default. It never lasts longer than the key itself. With 0 every earlier secret ends now. */
            overlap_seconds?: number;
        };
        /**
         * Which counter to reset.
         * @example {
         *       "period": "day"
         *     }
         */
        ResetUsageRequest: {
            /**
             * Which counter starts again from zero. `day`: the calls of this day, UTC. `month`: the calls of this month, UTC. `total`: the calls since the last reset.
             * @enum {string}
             */
            period: "day" | "month" | "total";
        };
        /**
         * A user of the gateway, as administrators and the user itself see it.
         * @example {
         *       "id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *       "username": "alice",
         *       "role": "premium",
         *       "status": "active",
         *       "created_at": "2026-11-20T08:30:00.000Z",
         *       "updated_at": "2026-11-20T08:30:00.000Z",
         *       "last_login": null,
         *       "api_calls_count": 812,
         *       "max_api_calls": 10000,
         *       "quota_period": "month"
         *     }
         */
        FullUser: {
            /**
             * Format: uuid
             *
             * The id of the user.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            id: string;
            /** The name with which the user logs in; unique without regard to case. */
            username: string;
            /**
             * What the user may do. `admin`: manages all users and keys, and sees all usage. `premium`: creates API keys for itself. `user`: sees only itself, and uses the keys that an administrator created for it.
             * @enum {string}
             */
            role: "admin" | "premium" | "user";
            /**
             * Whether the user may use the gateway. `active`: the user may log in, and its keys work. `suspended`: the tokens and keys of the user are refused, and the calls that ran with these keys have ended.
             * @enum {string}
             */
            status: "active" | "suspended";
            /**
             * Format: date-time
             *
             * When the user was created (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             *
             * When the user was last changed (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            updated_at: string;
            /** When the user last logged in; null if never. */
            last_login: string | null;
            /** How many calls the user has made in the current quota period; all calls ever if there is no period. */
            api_calls_count: number;
            /** How many calls the user may make in a quota period; 0 allows none. */
            max_api_calls: number;
            /**
             * How often the calls are counted from zero. `none`: never: the quota holds for all calls ever. `day`: at midnight, UTC. `month`: on the first of the month, UTC.
             * @enum {string}
             */
            quota_period: "none" | "day" | "month";
        };
        /**
         * A new user.
         * @example {
         *       "username": "alice",
         *       "password": "correct horse battery staple",
         *       "role": "premium"
         *     }
         */
        CreateUser: {
            /** 3 to 64 letters, digits and the characters `._-@`; unique without regard to case. */
            username: string;
            /** The new password, 8 to 256 characters. */
            password: string;
            /**
             * What the user may do. `admin`: manages all users and keys, and sees all usage. `premium`: creates API keys for itself. `user`: sees only itself, and uses the keys that an administrator created for it.
             * @default user
             * @enum {string}
             */
            role?: "admin" | "premium" | "user";
            /** How many calls the user may make in a quota period; 0 allows none. The default is the gateway's `users.maxApiCalls`. */
            max_api_calls?: number;
            /**
             * How often the calls are counted from zero. `none`: never: the quota holds for all calls ever. `day`: at midnight, UTC. `month`: on the first of the month, UTC.
             * @default none
             * @enum {string}
             */
            quota_period?: "none" | "day" | "month";
        };
        /**
         * The caller's current password and its new one.
         * @example {
         *       "current_password": "the old password",
         *       "new_password": "correct horse battery staple"
         *     }
         */
        ChangePassword: {
            /** The password that is valid now. */
            current_password: string;
            /** The new password, 8 to 256 characters. */
            new_password: string;
        };
        /**
         * The fields to change. A field that is absent keeps its value.
         * @example {
         *       "status": "suspended"
         *     }
         */
        UpdateUser: {
            /**
             * What the user may do. `admin`: manages all users and keys, and sees all usage. `premium`: creates API keys for itself. `user`: sees only itself, and uses the keys that an administrator created for it.
             * @enum {string}
             */
            role?: "admin" | "premium" | "user";
            /**
             * Whether the user may use the gateway. A suspension also ends all its access tokens. `active`: the user may log in, and its keys work. `suspended`: the tokens and keys of the user are refused, and the calls that ran with these keys have ended.
             * @enum {string}
             */
            status?: "active" | "suspended";
            /** How many calls the user may make in a quota period; 0 allows none. */
            max_api_calls?: number;
            /**
             * How often the calls are counted from zero. `none`: never: the quota holds for all calls ever. `day`: at midnight, UTC. `month`: on the first of the month, UTC.
             * @enum {string}
             */
            quota_period?: "none" | "day" | "month";
        };
        /**
         * A new password for a user.
         * @example {
         *       "password": "correct horse battery staple"
         *     }
         */
        SetPassword: {
            /** The new password, 8 to 256 characters. */
            password: string;
        };
        /**
         * The value of each property of `group_by`; empty without `group_by`.
         * @example {
         *       "agent": "fastgpt",
         *       "outcome": "done"
         *     }
         */
        UsageGroupValues: {
            /** The id of the API key. */
            key?: string;
            /** The id of the agent; empty for uploads that named none. */
            agent?: string;
            /** The id of the app of the agent; empty if there is none. */
            app?: string;
            /** The model; empty where the platform named none. */
            model?: string;
            /** The id of the user whom the API key belongs to. */
            user?: string;
            /** The end user that the client named; empty if it named none. */
            end_user?: string;
            /** How the calls ended. `done`: with a complete reply. `client_gone`: the client left before the end. `upstream_error`: the platform failed. `timeout`: the platform took too long. `drained`: the gateway shut down. `interrupted`: the process of the gateway died. `rejected`: it was refused for a reason of the caller after it had been admitted, or while it ran its key was revoked or expired, or the owner of the key was suspended. */
            outcome?: "done" | "client_gone" | "upstream_error" | "timeout" | "drained" | "interrupted" | "rejected" | (string & {});
            /** The id of the conversation at the gateway. */
            conversation?: string;
        };
        /**
         * The calls that have ended, each counted in the hour, day or month in which it was admitted.
         * @example {
         *       "from": "2026-11-19T00:00:00.000Z",
         *       "to": "2026-11-20T00:00:00.000Z",
         *       "timezone": "UTC",
         *       "granularity": "day",
         *       "group_by": [
         *         "agent"
         *       ],
         *       "totals": {
         *         "calls": 2,
         *         "failed_calls": 0,
         *         "prompt_tokens": 24,
         *         "completion_tokens": 10,
         *         "total_tokens": 34,
         *         "token_coverage": 1,
         *         "rated_up": 1,
         *         "rated_down": 0,
         *         "first_chunk_ms": {
         *           "p50": 210,
         *           "p95": 340,
         *           "p99": 340
         *         },
         *         "duration_ms": {
         *           "p50": 900,
         *           "p95": 1200,
         *           "p99": 1200
         *         }
         *       },
         *       "groups": [
         *         {
         *           "group": {
         *             "agent": "fastgpt"
         *           },
         *           "totals": {
         *             "calls": 2,
         *             "failed_calls": 0,
         *             "prompt_tokens": 24,
         *             "completion_tokens": 10,
         *             "total_tokens": 34,
         *             "token_coverage": 1,
         *             "rated_up": 1,
         *             "rated_down": 0,
         *             "first_chunk_ms": {
         *               "p50": 210,
         *               "p95": 340,
         *               "p99": 340
         *             },
         *             "duration_ms": {
         *               "p50": 900,
         *               "p95": 1200,
         *               "p99": 1200
         *             }
         *           },
         *           "points": [
         *             {
         *               "start": "2026-11-19T00:00:00.000Z",
         *               "calls": 2,
         *               "failed_calls": 0,
         *               "prompt_tokens": 24,
         *               "completion_tokens": 10,
         *               "total_tokens": 34,
         *               "token_coverage": 1,
         *               "rated_up": 1,
         *               "rated_down": 0,
         *               "first_chunk_ms": {
         *                 "p50": 210,
         *                 "p95": 340,
         *                 "p99": 340
         *               },
         *               "duration_ms": {
         *                 "p50": 900,
         *                 "p95": 1200,
         *                 "p99": 1200
         *               }
         *             }
         *           ]
         *         }
         *       ]
         *     }
         */
        UsageReport: {
            /**
             * Format: date-time
             *
             * The start of the report: that of the hour that contains the requested `from` (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             *
             * The end of the report, not included: the requested `to`, or the end of the hour in which it lies (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            to: string;
            /** The time zone in which days and months begin. */
            timezone: string;
            /**
             * The length of the buckets. `hour`: hours. Without `from`, a report covers the last day. `day`: days of the time zone. Without `from`, a report covers the last 30 days. `month`: months of the time zone. Without `from`, a report covers the last 365 days.
             * @enum {string}
             */
            granularity: "hour" | "day" | "month";
            /** The properties by which the calls are grouped. */
            group_by: ("key" | "agent" | "app" | "model" | "user" | "end_user" | "outcome" | "conversation")[];
            /** The numbers of all calls together. */
            totals: {
                /** How many calls there were. */
                calls: number;
                /** How many of them failed: the platform failed or took too long, or the gateway shut down or died. */
                failed_calls: number;
                /** The tokens of the inputs; null where none were reported. */
                prompt_tokens: number | null;
                /** The tokens of the replies; null where none were reported. */
                completion_tokens: number | null;
                /** The tokens of both; null where none were reported. */
                total_tokens: number | null;
                /** The share (0 to 1) of the calls for which the platform reported tokens. The sums of tokens cover only these calls. Null where there were no calls. */
                token_coverage: number | null;
                /** How many of the answers their users rated as good. */
                rated_up: number;
                /** How many of the answers their users rated as bad. */
                rated_down: number;
                /** The time from the dispatch of a call to its first text, in milliseconds, with an error of at most 4.9 %; null where there is no such call. */
                first_chunk_ms: {
                    /** The median: half of the calls took no longer. */
                    p50: number;
                    /** The 95th percentile. */
                    p95: number;
                    /** The 99th percentile. */
                    p99: number;
                } | null;
                /** The time from the dispatch of a call to its end, in milliseconds, with an error of at most 4.9 %; null where there is no such call. */
                duration_ms: {
                    /** The median: half of the calls took no longer. */
                    p50: number;
                    /** The 95th percentile. */
                    p95: number;
                    /** The 99th percentile. */
                    p99: number;
                } | null;
            };
            /** One item for each group, that with the most calls first. Without `group_by` there is one. */
            groups: {
                /** The value of each property of `group_by`; empty without `group_by`. */
                group: components["schemas"]["UsageGroupValues"];
                /** The numbers of the group over the whole report. */
                totals: {
                    /** How many calls there were. */
                    calls: number;
                    /** How many of them failed: the platform failed or took too long, or the gateway shut down or died. */
                    failed_calls: number;
                    /** The tokens of the inputs; null where none were reported. */
                    prompt_tokens: number | null;
                    /** The tokens of the replies; null where none were reported. */
                    completion_tokens: number | null;
                    /** The tokens of both; null where none were reported. */
                    total_tokens: number | null;
                    /** The share (0 to 1) of the calls for which the platform reported tokens. The sums of tokens cover only these calls. Null where there were no calls. */
                    token_coverage: number | null;
                    /** How many of the answers their users rated as good. */
                    rated_up: number;
                    /** How many of the answers their users rated as bad. */
                    rated_down: number;
                    /** The time from the dispatch of a call to its first text, in milliseconds, with an error of at most 4.9 %; null where there is no such call. */
                    first_chunk_ms: {
                        /** The median: half of the calls took no longer. */
                        p50: number;
                        /** The 95th percentile. */
                        p95: number;
                        /** The 99th percentile. */
                        p99: number;
                    } | null;
                    /** The time from the dispatch of a call to its end, in milliseconds, with an error of at most 4.9 %; null where there is no such call. */
                    duration_ms: {
                        /** The median: half of the calls took no longer. */
                        p50: number;
                        /** The 95th percentile. */
                        p95: number;
                        /** The 99th percentile. */
                        p99: number;
                    } | null;
                };
                /** The numbers of the group. One for each hour, day or month in order and without gaps: one with zeros where there were no calls. The first and the last have only the part of their day or month that lies within the report. */
                points: {
                    /**
                     * Format: date-time
                     *
                     * When the hour, day or month begins in the time zone of the report; for the first one, when the report begins (ISO 8601, UTC).
                     * @example 2026-11-20T08:30:00.000Z
                     */
                    start: string;
                    /** How many calls there were. */
                    calls: number;
                    /** How many of them failed: the platform failed or took too long, or the gateway shut down or died. */
                    failed_calls: number;
                    /** The tokens of the inputs; null where none were reported. */
                    prompt_tokens: number | null;
                    /** The tokens of the replies; null where none were reported. */
                    completion_tokens: number | null;
                    /** The tokens of both; null where none were reported. */
                    total_tokens: number | null;
                    /** The share (0 to 1) of the calls for which the platform reported tokens. The sums of tokens cover only these calls. Null where there were no calls. */
                    token_coverage: number | null;
                    /** How many of the answers their users rated as good. */
                    rated_up: number;
                    /** How many of the answers their users rated as bad. */
                    rated_down: number;
                    /** The time from the dispatch of a call to its first text, in milliseconds, with an error of at most 4.9 %; null where there is no such call. */
                    first_chunk_ms: {
                        /** The median: half of the calls took no longer. */
                        p50: number;
                        /** The 95th percentile. */
                        p95: number;
                        /** The 99th percentile. */
                        p99: number;
                    } | null;
                    /** The time from the dispatch of a call to its end, in milliseconds, with an error of at most 4.9 %; null where there is no such call. */
                    duration_ms: {
                        /** The median: half of the calls took no longer. */
                        p50: number;
                        /** The 95th percentile. */
                        p95: number;
                        /** The 99th percentile. */
                        p99: number;
                    } | null;
                }[];
            }[];
            /** The same report for the period before, or for that of `compare_from`; only if one of `previous` and `compare_from` was given. It has no `previous` itself. */
            previous?: components["schemas"]["UsageReport"];
        };
        /**
         * An admitted call: a row of the ledger. It is kept for `usage.retentionDays`, by default 400 days, longer than the objects that it names may exist.
         * @example {
         *       "id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *       "request_id": "ticket-1",
         *       "key_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a11",
         *       "owner_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12",
         *       "end_user": "",
         *       "kind": "chat",
         *       "face": "rest",
         *       "agent": "fastgpt",
         *       "app": "support",
         *       "deployment": "main",
         *       "model": null,
         *       "conversation": "chat-1",
         *       "outcome": "done",
         *       "reason": null,
         *       "attempts": 1,
         *       "platform_status": null,
         *       "platform_code": null,
         *       "platform_log_id": null,
         *       "instance_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a13",
         *       "instance_host": "gateway-1",
         *       "instance_pid": 7,
         *       "instance_version": "0.1.0",
         *       "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
         *       "prompt_tokens": 12,
         *       "completion_tokens": 5,
         *       "total_tokens": 17,
         *       "admitted_at": "2026-11-20T08:30:00.000Z",
         *       "queued_ms": null,
         *       "first_chunk_ms": 210,
         *       "duration_ms": 900,
         *       "ended_at": "2026-11-20T08:30:00.900Z",
         *       "replays": 0,
         *       "paused": false,
         *       "answers": null,
         *       "answered_by": null,
         *       "rating": null,
         *       "rating_text": null
         *     }
         */
        Call: {
            /**
             * Format: uuid
             *
             * The id of the call, also sent in the header `X-Call-Id`.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            id: string;
            /** The id of the request (`X-Request-Id`). */
            request_id: string;
            /**
             * Format: uuid
             *
             * The id of the API key that made the call.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            key_id: string;
            /**
             * Format: uuid
             *
             * The id of the user whom the API key belongs to.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            owner_id: string;
            /** The end user that the client named; empty if it named none. */
            end_user: string;
            /** What the call did. `chat`: a chat with an agent. `upload`: an upload of a file. */
            kind: "chat" | "upload" | (string & {});
            /** The interface through which the call came. `rest`: the REST API. `openai`: OpenAI's chat completions. `graphql`: the GraphQL API. `responses`: OpenAI's Responses API. */
            face: "rest" | "openai" | "graphql" | "responses" | (string & {});
            /** The id of the agent; empty for uploads that named none. */
            agent: string;
            /** The id of the app of the agent; empty if there is none. */
            app: string;
            /** The id of the deployment of the agent to which the last request of the call was sent, such as `main`, by the configuration of that time; null while the call runs, if nothing was sent or it was interrupted, and for uploads. */
            deployment: string | null;
            /** The model that the platform named; null if it named none. */
            model: string | null;
            /** The id by which the client names the conversation. */
            conversation: string;
            /** How the call ended; null while it runs. */
            outcome: ("done" | "client_gone" | "upstream_error" | "timeout" | "drained" | "interrupted" | "rejected" | (string & {})) | null;
            /** The stable word of the error; null if the call did not fail. */
            reason: (ErrorReason | (string & {})) | null;
            /** How many requests were sent to deployments of the agent for this call, which is one call however many they were. `reason` and the words of the platform are those of the last one. Null while the call runs, if nothing was sent or it was interrupted, and for uploads. */
            attempts: number | null;
            /** The HTTP status of the error of the platform. Shown only to administrators. */
            platform_status: number | null;
            /** The platform's own code of the error. Shown only to administrators. */
            platform_code: string | null;
            /** The id by which the support of the platform finds the call. Shown only to administrators. */
            platform_log_id: string | null;
            /** The id of the process that served the call, which all of its log lines have. Shown only to administrators. */
            instance_id: string | null;
            /** The name of the machine of that process; null once it ended more than `instance.retentionDays` ago. Shown only to administrators. */
            instance_host: string | null;
            /** The process id on that machine; null as `host` is. Shown only to administrators. */
            instance_pid: number | null;
            /** The version of that process; null as `host` is. Shown only to administrators. */
            instance_version: string | null;
            /** The id of the trace of the call, in hex; null while the call runs, and if it was not traced or was interrupted. Shown only to administrators. */
            trace_id: string | null;
            /** The tokens of the input; null if they were not reported. */
            prompt_tokens: number | null;
            /** The tokens of the reply; null if they were not reported. */
            completion_tokens: number | null;
            /** The tokens of both; null if they were not reported. */
            total_tokens: number | null;
            /**
             * Format: date-time
             *
             * When the call was admitted (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            admitted_at: string;
            /** The milliseconds that the call waited for a free slot of its agent before it was admitted, which are part of no other time; null if it did not wait, and while it runs. */
            queued_ms: number | null;
            /** The milliseconds from the dispatch to the first text; null if there was none. */
            first_chunk_ms: number | null;
            /** The milliseconds from the dispatch to the end; null while the call runs. */
            duration_ms: number | null;
            /** When the call ended; null while it runs. */
            ended_at: string | null;
            /** How many later requests with the same `Idempotency-Key` were answered from this call. They are no calls of their own. */
            replays: number;
            /** Whether the reply of the call ended with a question to its user, a pause, at which the run waited. It stays true after the answer. */
            paused: boolean;
            /** The id of the call whose pause this one answered or gave up; null if there is none. */
            answers: string | null;
            /** The id of the call that answered the pause of this one or gave it up; null if none has. */
            answered_by: string | null;
            /** What the user thinks of the answer; null if it was not rated. */
            rating: ("up" | "down") | null;
            /** What the user said about it; null without a text. */
            rating_text: string | null;
        };
        /**
         * A request of a known API key or access token that was refused before it was a call. It is kept for a day, and only the first ones of each reason, credential and hour are.
         * @example {
         *       "id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *       "request_id": "ticket-1",
         *       "at": "2026-11-20T08:30:00.000Z",
         *       "face": "rest",
         *       "route": "/api/v1/chat",
         *       "key_prefix": "tl_0fQ7sXbV2",
         *       "status": 429,
         *       "limit_points": 60,
         *       "limit_window_seconds": 60,
         *       "limit_of": "key",
         *       "field": null,
         *       "key_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a11",
         *       "owner_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12",
         *       "agent": "fastgpt",
         *       "reason": "rate_limited",
         *       "limit": "chat"
         *     }
         */
        Refusal: {
            /**
             * Format: uuid
             *
             * The id of the refusal.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            id: string;
            /** The id of the request (`X-Request-Id`). */
            request_id: string;
            /**
             * Format: date-time
             *
             * When it was refused (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            at: string;
            /** The id of the API key; null for an access token. */
            key_id: string | null;
            /**
             * Format: uuid
             *
             * The id of the user whom the API key or the access token belongs to.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            owner_id: string;
            /** The first 12 characters of the secret of the key that was presented; empty for an access token. */
            key_prefix: string;
            /** The interface through which the request came. `rest`: the REST API. `openai`: OpenAI's chat completions. `graphql`: the GraphQL API. `responses`: OpenAI's Responses API. */
            face: "rest" | "openai" | "graphql" | "responses" | (string & {});
            /** The template of the path, such as `/api/v1/users/:id`, or the root field of the GraphQL operation; `/graphql` if that was refused before it ran. */
            route: string;
            /** The id of the agent; empty if the request named none, and `other` if it named one that is not configured. */
            agent: string;
            /** The stable word of the error. */
            reason: ErrorReason | (string & {});
            /** The HTTP status that belongs to the reason. */
            status: number;
            /** Which limit refused it, such as `chat`, or which part of the gateway was not available; empty where the reason says it all. */
            limit: string;
            /** The input at fault, by the name that its interface has for it; null if it was none. */
            field: string | null;
            /** How many requests a rate limit allows in its time, on all processes together; null for any other limit. */
            limit_points: number | null;
            /** The time of the rate limit, in seconds; null for any other limit. */
            limit_window_seconds: number | null;
            /** Whose rate limit it is: `key` or `gateway`; null for any other limit. */
            limit_of: ("key" | "gateway" | (string & {})) | null;
        };
        /**
         * Requests that were refused for one reason in one minute, hour or day. The requests of unknown credentials are counted as well, without a key or an owner, and shown only to administrators. Counts are kept for 30 days.
         * @example {
         *       "start": "2026-11-20T08:00:00.000Z",
         *       "key_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a11",
         *       "owner_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12",
         *       "agent": "fastgpt",
         *       "reason": "rate_limited",
         *       "limit": "chat",
         *       "count": 812
         *     }
         */
        RefusalCount: {
            /**
             * Format: date-time
             *
             * When the minute, hour or day begins in the requested time zone; for the first one, when the range begins (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            start: string;
            /** The id of the API key; null for access tokens and unknown credentials. */
            key_id: string | null;
            /** The id of the user whom the API key or the access tokens belong to; null for unknown credentials. */
            owner_id: string | null;
            /** The id of the agent; empty if the request named none, and `other` if it named one that is not configured. */
            agent: string;
            /** The stable word of the error. */
            reason: ErrorReason | (string & {});
            /** Which limit refused it, such as `chat`, or which part of the gateway was not available; empty where the reason says it all. */
            limit: string;
            /** How many requests were refused. */
            count: number;
        };
        /**
         * A page of the messages of a conversation, the newest page first.
         * @example {
         *       "items": [
         *         {
         *           "id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10.1",
         *           "role": "assistant",
         *           "text": "To the sea.",
         *           "files": [],
         *           "created_at": "2026-11-20T08:30:00.000Z",
         *           "call_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *           "rating": "up"
         *         }
         *       ],
         *       "has_more": false,
         *       "before": null,
         *       "complete": true
         *     }
         */
        ConversationMessages: {
            /** In the order in which they were said. */
            items: {
                /** The id of the message, unique within its conversation. */
                id: string;
                /**
                 * Who said it. `user`: the user. `assistant`: the agent.
                 * @enum {string}
                 */
                role: "user" | "assistant";
                /** The text. */
                text: string;
                /** The files, as the platform names them. Their URLs may expire. */
                files: {
                    /** Where the file is. */
                    url: string;
                    /** Its name; null if the platform gives none. */
                    name: string | null;
                }[];
                /** When it was said; null where the platform does not tell. */
                created_at: string | null;
                /** The id of the call whose answer it is, where that is known: it can be rated by this id. */
                call_id: string | null;
                /** What the user thinks of the answer; null if it was not rated. */
                rating: ("up" | "down") | null;
            }[];
            /** Whether there are older messages. */
            has_more: boolean;
            /** Names the page before this one; null at the beginning of the conversation. */
            before: string | null;
            /** Whether all that was said is there, as far as is known. Of an agent whose turns the gateway keeps, older ones may have been dropped. */
            complete: boolean;
        };
        /**
         * A conversation of an end user with an agent and its app. It is listed within a second after its first call has ended, and as long after its last use as `conversations.mappingRetentionDays` says.
         * @example {
         *       "id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *       "conversation": "chat-1",
         *       "agent": "fastgpt",
         *       "app": "demo",
         *       "owner_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12",
         *       "end_user": "ann",
         *       "name": "Holiday plans",
         *       "created_at": "2026-11-20T08:30:00.000Z",
         *       "last_activity_at": "2026-11-20T09:02:00.000Z",
         *       "turns": 4,
         *       "last_outcome": "done",
         *       "paused": false
         *     }
         */
        Conversation: {
            /**
             * Format: uuid
             *
             * The id of the conversation, made by the gateway.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            id: string;
            /** The id by which the client names the conversation: `chat_id`, `conversation_id` or `X-Conversation-Id` of its calls. The same id of another user, end user, agent or app is another conversation. */
            conversation: string;
            /** The id of the agent. */
            agent: string;
            /** The id of the app of the agent; empty if there is none. */
            app: string;
            /**
             * Format: uuid
             *
             * The id of the user whom the API keys of its calls belong to.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            owner_id: string;
            /** The end user that the calls named; empty if they named none. */
            end_user: string;
            /** The name; null as long as nobody has named it. */
            name: string | null;
            /**
             * Format: date-time
             *
             * When its first call was admitted, as far as conversations were listed at that time (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             *
             * When its last call ended, accurate to a minute (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            last_activity_at: string;
            /** The complete answers, as far as the ledger still has their calls; counted up to 1,000. */
            turns: number;
            /** How its last call ended; null while that is running, and once the ledger has no call of it any more. */
            last_outcome: ("done" | "client_gone" | "upstream_error" | "timeout" | "drained" | "interrupted" | "rejected" | (string & {})) | null;
            /** Whether a run waits for its user. */
            paused: boolean;
        };
        /**
         * The new name of a conversation.
         * @example {
         *       "name": "Holiday plans"
         *     }
         */
        RenameConversation: {
            /** The new name, of 1 to 200 characters. Null takes the name back, here alone. */
            name: string | null;
        };
        /**
         * What a user thinks of an answer.
         * @example {
         *       "rating": "up",
         *       "text": "Just right."
         *     }
         */
        RateCall: {
            /** What the user thinks of the answer. Null takes a rating back. `up`: it was good. `down`: it was not. */
            rating: ("up" | "down") | null;
            /** What the user says about it, at most 2,000 characters. */
            text?: string;
        };
        /**
         * What the erasure of an end user has done, and what it has left.
         * @example {
         *       "owner_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *       "pseudonym": "erased-5f0c2e9d8a7b4c3f6e1d",
         *       "complete": false,
         *       "stopped_calls": 0,
         *       "running_calls": 0,
         *       "agents": [
         *         {
         *           "agent": "dify",
         *           "deleted": 3,
         *           "unsupported": 0,
         *           "remaining": 1,
         *           "reason": "agent_unreachable"
         *         }
         *       ],
         *       "deleted_uploads": 2,
         *       "remaining_uploads": 0
         *     }
         */
        ErasedEndUser: {
            /**
             * Format: uuid
             *
             * The id of the user whose end user it was.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            owner_id: string;
            /** What takes the place of the name in the records of calls and in reports. It is the same for each erasure of this end user. */
            pseudonym: string;
            /** Whether nothing has the name any more. Repeat the request as long as it is false. */
            complete: boolean;
            /** The calls of the end user that ran, and were stopped. */
            stopped_calls: number;
            /** The calls that still run, or have begun meanwhile; they have the name. */
            running_calls: number;
            /** What the platform of each agent has done with the conversations of the end user. */
            agents: {
                /** The id of the agent. */
                agent: string;
                /** The conversations that its platform has deleted, and that are deleted here. */
                deleted: number;
                /** The conversations that are deleted here alone, because the platform cannot delete them, has nothing of them, or is not configured any more. */
                unsupported: number;
                /** The conversations that are left for a repetition. They are still listed by the old name, without which the platform does not find them. */
                remaining: number;
                /** The reason of the last failure at the platform; null if nothing has failed there. */
                reason: (ErrorReason | (string & {})) | null;
            }[];
            /** The uploads that were deleted. */
            deleted_uploads: number;
            /** The uploads that are left, because the storage of files has failed. */
            remaining_uploads: number;
        };
        /**
         * The end user to erase.
         * @example {
         *       "end_user": "ann",
         *       "owner_id": "0192f0c1-7b6a-7c3e-9a4d-2f1e8b7c6d5a"
         *     }
         */
        EraseEndUser: {
            /** The end user, by the name that its calls gave. */
            end_user: string;
            /** The id of the user to whom the API keys of the calls belong. Administrators must name one; for all others it is their own. */
            owner_id?: string;
        };
        /**
         * An event of the audit log: who did what to what, when, and what it was before and after. Each event is chained to the one before by its hash. Chats are in the ledger, and not here.
         * @example {
         *       "n": 41,
         *       "format": 1,
         *       "at": "2026-11-20T08:30:00.123456Z",
         *       "operation": "users.update",
         *       "result": "done",
         *       "actor": "token",
         *       "user_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *       "key_id": null,
         *       "token_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12",
         *       "name": null,
         *       "address": "192.0.2.7",
         *       "request_id": "ticket-1",
         *       "target": "user",
         *       "target_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a11",
         *       "before": {
         *         "role": "user"
         *       },
         *       "after": {
         *         "role": "premium"
         *       },
         *       "reason": null,
         *       "count": 1,
         *       "hash": "d2a84f4b8b650937ec8f73cd8be2c74add5a911ba64df27458ed8229da804a26"
         *     }
         */
        AuditEvent: {
            /** The number of the event. Events are numbered without gaps. */
            n: number;
            /** Which form of the event is hashed. */
            format: number;
            /**
             * Format: date-time
             *
             * When it was written, by the clock of the database (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            at: string;
            /** What was done, such as `users.update`. */
            operation: string;
            /** Whether it was done, was refused or failed. `done`: it was done. `refused`: it was refused, because the caller may not do it. `failed`: it was tried and failed, such as a login with a wrong password. */
            result: "done" | "refused" | "failed" | (string & {});
            /** By what right it was done: `key` or `token` for a caller, `anonymous` without a credential, `command` for the command line, `gateway` for the gateway itself, or `database` for a statement of none of these. */
            actor: "key" | "token" | "anonymous" | "command" | "gateway" | "database" | (string & {});
            /** The id of the user who did it, or whose API key did it; null if it was none. */
            user_id: string | null;
            /** The id of the API key; null if it was none. */
            key_id: string | null;
            /** The id of the access token (its `jti`), of a login that of the one that it has issued; null if it was none. */
            token_id: string | null;
            /** The account of the operating system for a command, the first 12 characters of the secret that was presented for a key, the role of the database for a statement, or the username of a failed login; null otherwise. */
            name: string | null;
            /** The network address of the client; null if there was none. */
            address: string | null;
            /** The id of the request (`X-Request-Id`); null if there was none. */
            request_id: string | null;
            /** What it was done to, such as `user`; null if it was nothing in particular. */
            target: string | null;
            /** The id of that; null if it has none. */
            target_id: string | null;
            /** The state before, without secrets; null if there was none. */
            before: {
                [key: string]: unknown;
            } | null;
            /** The state after, without secrets; null if there is none. */
            after: {
                [key: string]: unknown;
            } | null;
            /** Why it was refused or failed, as the stable word of an error; null otherwise. */
            reason: (ErrorReason | (string & {})) | null;
            /** How many equal events this one stands for; more than 1 only for what strangers can cause at will. */
            count: number;
            /** The hash of the event and of the one before, in hexadecimal digits. */
            hash: string;
        };
        /**
         * A process of the gateway that shares the database, or did until it ended. It is listed until it ended more than `instance.retentionDays` ago.
         * @example {
         *       "id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *       "host": "gateway-1",
         *       "pid": 17,
         *       "port": 3000,
         *       "version": "1.4.0",
         *       "build": "20261125170333_audit_signing_keys",
         *       "state": "live",
         *       "started_at": "2026-11-20T08:00:00.000Z",
         *       "last_seen_at": "2026-11-20T08:30:00.000Z",
         *       "stopped_at": null,
         *       "calls_in_flight": 3,
         *       "breakers": [
         *         {
         *           "agent": "fastgpt",
         *           "deployment": "eu",
         *           "breaker": "open",
         *           "open_since": "2026-11-20T08:29:00.000Z",
         *           "reason": "agent_unreachable"
         *         }
         *       ],
         *       "configuration": {
         *         "state": "current",
         *         "number": 4,
         *         "fingerprint": "9c1f0b6f7a10e4d2",
         *         "since": "2026-11-20T08:20:00.000Z",
         *         "needs_restart": [],
         *         "error": null
         *       },
         *       "concerns": [
         *         {
         *           "concern": "ledger_behind",
         *           "cause": null,
         *           "since": "2026-11-20T08:29:10.000Z",
         *           "count": 12,
         *           "blocked_by": "process 4711 (psql, idle in transaction, its transaction open since 2026-11-20T08:29:08Z)"
         *         }
         *       ]
         *     }
         */
        GatewayProcess: {
            /**
             * Format: uuid
             *
             * The id of the process, which all of its log lines have.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            id: string;
            /** The name of its machine; null for an earlier version. */
            host: string | null;
            /** Its process id on that machine; null for an earlier version. */
            pid: number | null;
            /** The port on which it serves requests; null for an earlier version. It tells replicas on one machine apart; workers of one share it. */
            port: number | null;
            /** Its version; null for an earlier one, which did not report it. */
            version: string | null;
            /** The newest migration of the database that it knows. */
            build: string;
            /**
             * Whether it lives. `live`: it lives. `stopped`: it has left. `lost`: it has sent no heartbeat for `instance.leaseMs`: it was killed, hangs, or does not reach the database.
             * @enum {string}
             */
            state: "live" | "stopped" | "lost";
            /**
             * Format: date-time
             *
             * When it started (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            started_at: string;
            /**
             * Format: date-time
             *
             * The time of its last heartbeat, by the clock of the database; when it left, if it did. Live processes send one every few seconds (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            last_seen_at: string;
            /** When it left; null while it lives, and if it ended without leaving. */
            stopped_at: string | null;
            /** Its chats in progress at its last heartbeat; null if it is not live, and for an earlier version, which did not report them. */
            calls_in_flight: number | null;
            /** The deployments whose breaker was not closed at its last heartbeat; empty if it is not live. */
            breakers: {
                /** The id of the agent. */
                agent: string;
                /** The id of the deployment, unique within its agent. */
                deployment: string;
                /**
                 * Whether the process sends calls there: `half_open` or `open`, since closed ones are not listed. `closed`: calls are sent there, though those of an owner whose own calls fail there may be refused. `half_open`: one call tries whether it works again; others are not sent there. `open`: no calls are sent there, because too many failed.
                 * @enum {string}
                 */
                breaker: "closed" | "half_open" | "open";
                /** When the process stopped sending calls there; null if it did not report it. */
                open_since: string | null;
                /** Why, as the stable word of an error; null if it did not report it. */
                reason: (ErrorReason | (string & {})) | null;
            }[];
            /** The configuration that it serves, as of its last heartbeat; null if it is not live, and for an earlier version, which did not report it. */
            configuration: {
                /**
                 * Whether this is the configuration that was loaded last. `current`: it is. `pending`: it is another one, and another one was loaded less than a minute ago: the file may still be on its way to the machine of the process. `different`: it is another one. The process has another file, or cannot use it.
                 * @enum {string}
                 */
                state: "current" | "pending" | "different";
                /** The number of the last reload that the process has followed, or that came before its start; 0 before the first. */
                number: number;
                /** A fingerprint of all of the configuration: two processes with the same one serve the same. */
                fingerprint: string;
                /**
                 * Format: date-time
                 *
                 * Since when the process serves it (ISO 8601, UTC).
                 * @example 2026-11-20T08:30:00.000Z
                 */
                since: string;
                /** What is different in the file since the process has started, as places in the file, and takes effect with its next start. */
                needs_restart: string[];
                /** What is wrong with the file of the process, if it cannot be used; else null. */
                error: string | null;
            } | null;
            /** What was wrong with it at its last heartbeat; empty if it is not live. */
            concerns: {
                /**
                 * What is wrong. `ledger_behind`: calls have ended whose end it cannot write to the ledger; until then they count as running. `disk_full`: the disk of the database is full, or almost full. `unavailable`: it has answered requests 503 within the last minute, because a part of the installation was not available.
                 * @enum {string}
                 */
                concern: "ledger_behind" | "disk_full" | "unavailable";
                /** Which part is not available, as in the causes of refusals; null of other concerns. */
                cause: string | null;
                /**
                 * Format: date-time
                 *
                 * Since when (ISO 8601, UTC).
                 * @example 2026-11-20T08:30:00.000Z
                 */
                since: string;
                /** How many ends of calls wait, or how many requests were refused since then; null of a disk. */
                count: number | null;
                /** Who holds the lock for which statements of the gateway wait, as far as the role of the gateway may see it: the process id in PostgreSQL, the program, what it does. Null if no such lock was found. */
                blocked_by: string | null;
            }[];
        };
        /**
         * A reload of the configuration.
         * @example {
         *       "number": 4,
         *       "changed": [
         *         "agents.support",
         *         "limits.chat.points"
         *       ],
         *       "needs_restart": [
         *         "uploads.maxBytes"
         *       ],
         *       "processes": []
         *     }
         */
        Reload: {
            /** The number of the reload. */
            number: number;
            /** What is different now, as places in the file: an agent as a whole, and each of the limits. Empty if the file is as before. */
            changed: string[];
            /** What is different in the file since the process has started, as places in the file, and takes effect with its next start. */
            needs_restart: string[];
            /** The processes that live, with what they serve now. */
            processes: components["schemas"]["GatewayProcess"][];
        };
        /**
         * The public keys that verify the signatures of access tokens (RFC 7517).
         * @example {
         *       "keys": [
         *         {
         *           "kty": "OKP",
         *           "crv": "Ed25519",
         *           "x": "string",
         *           "kid": "string",
         *           "alg": "EdDSA",
         *           "use": "sig"
         *         }
         *       ]
         *     }
         */
        JwkSet: {
            /** The keys that are in use and those that signed tokens which are still valid. */
            keys: {
                /**
                 * The key type.
                 * @enum {string}
                 */
                kty: "OKP";
                /**
                 * The curve.
                 * @enum {string}
                 */
                crv: "Ed25519";
                /** The public key, base64url. */
                x: string;
                /** The id of the key, to which the header of a token refers. */
                kid: string;
                /**
                 * The signature algorithm.
                 * @enum {string}
                 */
                alg: "EdDSA";
                /**
                 * The key verifies signatures.
                 * @enum {string}
                 */
                use: "sig";
            }[];
        };
        /**
         * An uploaded file. Files are uploaded by `POST /api/v1/upload` of the REST API.
         * @example {
         *       "id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10",
         *       "url": "https://gateway.example.com/files/3q2-7wAAbbCCW1d8Xv4tnQk0RmJz6Yp9sLhGfEuTcIo/report.pdf",
         *       "filename": "report.pdf",
         *       "content_type": "application/pdf",
         *       "size": 48213,
         *       "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
         *       "created_by": "support-page",
         *       "end_user": "ann",
         *       "created_at": "2026-11-20T08:30:00.000Z",
         *       "expires_at": "2026-11-27T08:30:00.000Z",
         *       "owner_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a12",
         *       "key_id": "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a11"
         *     }
         */
        Upload: {
            /**
             * Format: uuid
             *
             * The id of the upload.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            id: string;
            /** A public URL of the file, to be sent in `files` of a chat. It works until the upload expires or is deleted. */
            url: string;
            /** The name of the file, such as `report.pdf`, without what a name must not contain. */
            filename: string;
            /** The media type, decided by the content, such as `application/pdf`. */
            content_type: string;
            /** The length of the file in bytes. */
            size: number;
            /** The SHA-256 of the file in hex. */
            sha256: string;
            /** The label that the client sent with the file. It gives no rights. */
            created_by: string;
            /** The end user whom the file is of; empty if the upload named none. */
            end_user: string;
            /**
             * Format: date-time
             *
             * When the file was uploaded (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             *
             * When the file and its URL expire (ISO 8601, UTC).
             * @example 2026-11-20T08:30:00.000Z
             */
            expires_at: string;
            /**
             * Format: uuid
             *
             * The id of the user whom the file belongs to.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            owner_id: string;
            /**
             * Format: uuid
             *
             * The id of the API key that uploaded the file.
             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
             */
            key_id: string;
        };
        /**
         * A form with these parts and no others, in any order. Only `end_user` may be left out.
         * @example {
         *       "file": "(the content of the file)",
         *       "created_by": "support-page",
         *       "end_user": "ann"
         *     }
         */
        UploadForm: {
            /**
             * Format: binary
             *
             * The file, with its name.
             * @example (the content of the file)
             */
            file: string;
            /**
             * A label of your choosing, which is kept with the file. It gives no rights.
             * @example support-page
             */
            created_by: string;
            /**
             * The end user whom the file is of, as chats name it. With an erasure of this end user the file is deleted. It is not believed where a trusted proxy names the end users of requests.
             * @example ann
             */
            end_user?: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    listAgents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        data: {
                            /** The items of this page. */
                            items: components["schemas"]["Agent"][];
                            /** Send this value as `cursor` to get the next page. Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
    };
    listAgentDeployments: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** The id of the agent. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        data: {
                            /** The items of this page. */
                            items: components["schemas"]["AgentDeployment"][];
                            /** Send this value as `cursor` to get the next page. Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /** The largest number of items on a page. */
                limit?: number;
                /** The `next_cursor` of the previous page. Omit it to get the first page. A cursor is for lists with the same `order_by`. */
                cursor?: string;
                /** Only keys with this in their name, prefix or id, or in the username of their owner, if you may see it; without regard to case. Every character stands for itself. A blank text selects all. */
                search?: string;
                /** Only keys in this state. A key that was revoked is no longer counted as expired when its time comes. */
                state?: "active" | "paused" | "expired" | "revoked";
                /** Only keys that are active and expire before this time: ISO 8601 with a time zone. */
                expires_before?: string;
                /** Only keys that are active and expire within so many days, such as `30d`. */
                expires_within?: string;
                /** Only keys that are active or paused and were neither used nor created within so many days, such as `90d`. */
                unused_for?: string;
                /** Only the keys that belong to the user with this id. */
                owner_id?: string;
                /** What the keys are ordered by, and among equal ones by their ids. Keys that were never used come last. */
                order_by?: "created_at" | "name" | "last_used_at" | "expires_at" | "calls_today" | "calls_this_month" | "total_calls";
                /** The direction. By default, names and expiries ascend, and times of creation and use and numbers of calls descend. */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        data: {
                            /** The items of this page. */
                            items: components["schemas"]["ApiKey"][];
                            /** Send this value as `cursor` to get the next page. Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** The largest number of items on a page. */
                limit?: number;
                /** The `next_cursor` of the previous page. Omit it to get the first page. A cursor is for lists with the same `order_by`. */
                cursor?: string;
                /** Only users with this in their username or id, without regard to case. Every character stands for itself. A blank text selects all. */
                search?: string;
                /** Only users with this status. */
                state?: "active" | "suspended";
                /** Only users with this role. */
                role?: "admin" | "premium" | "user";
                /** Only users who have used at least this share of their quota, in percent from 0 to 100; 100 selects those whose calls are refused. */
                quota_percent_min?: number;
                /** What the users are ordered by, and among equal ones by their ids. Users who never logged in come last. */
                order_by?: "created_at" | "username" | "last_login" | "api_calls_count" | "quota_used";
                /** The direction. By default, usernames ascend, and times of creation and login, numbers of calls and used shares descend. */
                order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        data: {
                            /** The items of this page. */
                            items: components["schemas"]["FullUser"][];
                            /** Send this value as `cursor` to get the next page. Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
    };
    readUsage: {
        parameters: {
            query?: {
                /** Only calls to this agent, such as `fastgpt`, which must be configured or have been called before. */
                agent?: string;
                /** Only calls of the app with this id; an empty text stands for calls without an app. Ids of apps belong to an agent. Apps beyond the bound of a day are counted under `(other)`. */
                app?: string;
                /** Only calls for which the platform named this model; an empty text stands for calls for which it named none. */
                model?: string;
                /** Only calls of the API key with this id. */
                key_id?: string;
                /** Only calls of the API keys of the user with this id. */
                owner_id?: string;
                /** Only calls of the end user whom the client named so, with all keys together; an empty text stands for calls without one. End users beyond the bound of a day are counted under `(other)`. */
                end_user?: string;
                /** Only calls that ended in one of these ways. Several are separated by commas. `done`: with a complete reply. `client_gone`: the client left before the end. `upstream_error`: the platform failed. `timeout`: the platform took too long. `drained`: the gateway shut down. `interrupted`: the process of the gateway died. `rejected`: it was refused for a reason of the caller after it had been admitted, or while it ran its key was revoked or expired, or the owner of the key was suspended. `running`: it has not ended. Reports count only calls that have ended and do not take it. `failed`: in any way that counts as a failure: the platform failed or took too long, or the gateway shut down or died. */
                outcome?: string;
                /** Only calls admitted at this time or later: ISO 8601 with a time zone, or a date, such as `2026-10-01`, which stands for the start of that day in `timezone`. The report begins with the hour that contains it. */
                from?: string;
                /** Only calls admitted before this time, in the same form as `from`, which must be earlier: a date stands for the start of that day, which is not included. The report ends with the hour in which it lies; now by default. */
                to?: string;
                /** The IANA name of the time zone in which days and months begin, also those of `from` and `to`, such as `Asia/Shanghai`; UTC by default. Its offset from UTC must be whole hours. */
                timezone?: string;
                /** The length of the buckets; the default is `day`. Without `from`, the report covers the last day by the hour, the last 30 days by the day or the last 365 days by the month. */
                granularity?: "hour" | "day" | "month";
                /** The properties by which to group, separated by commas, out of key, agent, app, model, user, end_user, outcome, conversation. `conversation` stands alone and needs `agent`: the report then has the 100 conversations that were used last, by their ids at the gateway, and is read from the ledger. */
                group_by?: string;
                /** What the rows of the CSV are: `points` (the default) for each bucket of each group, `totals` for each group over the whole range. */
                rows?: "points" | "totals";
                /** Whether the CSV also has what people read: the column `time` as the clocks of the time zone show it, and the names of agents, keys and users beside their ids; false by default. */
                labels?: boolean;
                /** Whether to compare the report with the period before, which is as long and ends where the report begins; false by default. The report then has that period as `previous`, and the CSV its columns, with names that begin with `before_`; both periods count as one report. */
                previous?: boolean;
                /** The start of the period with which the report is compared, in the same form as `from`. It takes the place of the period before. The report then has that period as `previous`, and the CSV its columns, with names that begin with `before_`; both periods count as one report. */
                compare_from?: string;
                /** The end of the period with which the report is compared, not included; without it, that period is as long as the report. */
                compare_to?: string;
                /** The format of the response; the default is `json`. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        /** The calls that have ended, each counted in the hour, day or month in which it was admitted. */
                        data: components["schemas"]["UsageReport"];
                    };
                    "text/csv": string;
                };
            };
        };
    };
    listCalls: {
        parameters: {
            query?: {
                /** The largest number of items on a page. */
                limit?: number;
                /** The `next_cursor` of the previous page. Omit it to get the first page. */
                cursor?: string;
                /** Only calls to this agent, such as `fastgpt`, which must be configured or have been called before. */
                agent?: string;
                /** Only calls of the app with this id; an empty text stands for calls without an app. Ids of apps belong to an agent. */
                app?: string;
                /** Only calls whose last request was sent to the deployment with this id; an empty text stands for calls of which none is known, such as those that still run. Ids of deployments belong to an agent. */
                deployment?: string;
                /** Only calls for which the platform named this model; an empty text stands for calls for which it named none. */
                model?: string;
                /** Only calls that did this. */
                kind?: "chat" | "upload";
                /** Only calls that came through this interface. */
                face?: "rest" | "openai" | "graphql" | "responses";
                /** Only calls of the API key with this id. */
                key_id?: string;
                /** Only calls of the API keys of the user with this id. */
                owner_id?: string;
                /** Only calls of the end user whom the client named so; an empty text stands for calls without one. The same name with another user is another end user. */
                end_user?: string;
                /** Only calls of the conversation that the client names by this id. The same id of another user, end user, agent or app is another conversation. */
                conversation?: string;
                /** Only calls of the request with this id. */
                request_id?: string;
                /** Only calls that failed or were refused for this reason: a stable word of an error, such as `agent_timeout`. */
                reason?: ErrorReason | (string & {});
                /** Only calls that paused, or only those that did not. */
                paused?: boolean;
                /** Only calls whose first text came at least this many milliseconds after the dispatch. */
                first_chunk_ms_min?: number;
                /** Only calls that took at least this many milliseconds from the dispatch to the end. */
                duration_ms_min?: number;
                /** Only calls for which the platform reported at least this many tokens. */
                total_tokens_min?: number;
                /** Only calls of which one of these is true. Several are separated by commas. `done`: with a complete reply. `client_gone`: the client left before the end. `upstream_error`: the platform failed. `timeout`: the platform took too long. `drained`: the gateway shut down. `interrupted`: the process of the gateway died. `rejected`: it was refused for a reason of the caller after it had been admitted, or while it ran its key was revoked or expired, or the owner of the key was suspended. `running`: it has not ended. Reports count only calls that have ended and do not take it. `failed`: in any way that counts as a failure: the platform failed or took too long, or the gateway shut down or died. */
                outcome?: string;
                /** Only calls admitted at this time or later: ISO 8601 with a time zone, or a date, such as `2026-10-01`, which stands for the start of that day in `timezone`. */
                from?: string;
                /** Only calls admitted before this time, in the same form as `from`, which must not be later: a date stands for the start of that day, which is not included. */
                to?: string;
                /** The IANA name of the time zone in which the days of `from` and `to` begin, such as `Asia/Shanghai`; UTC by default. */
                timezone?: string;
                /** The format of the response; the default is `json`. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        data: {
                            /** The items of this page. */
                            items: components["schemas"]["Call"][];
                            /** Send this value as `cursor` to get the next page. Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                    "text/csv": string;
                };
            };
        };
    };
    listRefusals: {
        parameters: {
            query?: {
                /** The largest number of items on a page. */
                limit?: number;
                /** The `next_cursor` of the previous page. Omit it to get the first page. */
                cursor?: string;
                /** Only requests with the API key with this id. */
                key_id?: string;
                /** Only requests with the API keys and access tokens of the user with this id. */
                owner_id?: string;
                /** Only requests for this agent, such as `fastgpt`, which must be configured or have been called before; an empty text stands for requests that named none, and `other` for those that named one that is not configured. */
                agent?: string;
                /** Only requests that were refused for this reason: a stable word of an error, such as `rate_limited`. */
                reason?: ErrorReason | (string & {});
                /** Only requests that this limit or this part of the gateway refused, such as `chat`. */
                limit_name?: string;
                /** Only refusals of the request with this id. */
                request_id?: string;
                /** Only requests refused at this time or later: ISO 8601 with a time zone, or a date, such as `2026-10-01`, which stands for the start of that day in `timezone`. */
                from?: string;
                /** Only requests refused before this time, in the same form as `from`, which must not be later: a date stands for the start of that day, which is not included. */
                to?: string;
                /** The IANA name of the time zone in which the days of `from` and `to` begin, such as `Asia/Shanghai`; UTC by default. */
                timezone?: string;
                /** The format of the response; the default is `json`. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        data: {
                            /** The items of this page. */
                            items: components["schemas"]["Refusal"][];
                            /** Send this value as `cursor` to get the next page. Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                    "text/csv": string;
                };
            };
        };
    };
    countRefusals: {
        parameters: {
            query?: {
                /** Only requests with the API key with this id. */
                key_id?: string;
                /** Only requests with the API keys and access tokens of the user with this id. */
                owner_id?: string;
                /** Only requests for this agent, such as `fastgpt`, which must be configured or have been called before; an empty text stands for requests that named none, and `other` for those that named one that is not configured. */
                agent?: string;
                /** Only requests that were refused for this reason: a stable word of an error, such as `rate_limited`. */
                reason?: ErrorReason | (string & {});
                /** Only requests that this limit or this part of the gateway refused, such as `chat`. */
                limit_name?: string;
                /** Only requests refused at this time or later: ISO 8601 with a time zone, or a date, such as `2026-10-01`, which stands for the start of that day in `timezone`. The range begins with the minute that contains it. */
                from?: string;
                /** Only requests refused before this time, in the same form as `from`, which must be earlier. The range ends with the minute in which it lies; now by default. */
                to?: string;
                /** The IANA name of the time zone in which days begin, also those of `from` and `to`, such as `Asia/Shanghai`; UTC by default. */
                timezone?: string;
                /** The length of the buckets. Without `from`, the last hour is counted by the minute, the last day by the hour, or the last 30 days by the day; a range by the minute may be a day long. */
                per?: "minute" | "hour" | "day";
                /** The format of the response; the default is `json`. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        data: {
                            /** The items of this page. */
                            items: components["schemas"]["RefusalCount"][];
                            /** Send this value as `cursor` to get the next page. Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                    "text/csv": string;
                };
            };
        };
    };
    listConversations: {
        parameters: {
            query?: {
                /** The largest number of items on a page. */
                limit?: number;
                /** The `next_cursor` of the previous page. Omit it to get the first page. */
                cursor?: string;
                /** Only conversations with this agent. */
                agent?: string;
                /** Only conversations with this app; empty for those without one. */
                app?: string;
                /** Only conversations of this end user; empty for those without one. */
                end_user?: string;
                /** Only conversations that the client names by this id. */
                conversation?: string;
                /** Only conversations of this user. Only administrators see those of others. */
                owner_id?: string;
                /** Only conversations with this in their name, in the id of the client or in the end user, without regard to case. Every character stands for itself. A blank text selects all. */
                search?: string;
                /** The format of the response; the default is `json`. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        data: {
                            /** The items of this page. */
                            items: components["schemas"]["Conversation"][];
                            /** Send this value as `cursor` to get the next page. Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                    "text/csv": string;
                };
            };
        };
    };
    listMessages: {
        parameters: {
            query?: {
                /** The largest number of messages. */
                limit?: number;
                /** `before` of the page after it, or the id of one of the last thousand messages. Omit it to get the newest page. */
                before?: string;
            };
            header?: never;
            path: {
                /** The id of the conversation, made by the gateway. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        /** A page of the messages of a conversation, the newest page first. */
                        data: components["schemas"]["ConversationMessages"];
                    };
                };
            };
        };
    };
    deleteConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** The id that the conversation had. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        /** What `deleteConversation` has done. */
                        data: {
                            /**
                             * Format: uuid
                             *
                             * The id that the conversation had.
                             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
                             */
                            id: string;
                            /**
                             * Whether the platform has deleted it, too. `deleted`: the platform has deleted it. `unsupported`: the platform cannot delete it, or had nothing of it.
                             * @enum {string}
                             */
                            at_platform: "deleted" | "unsupported";
                        };
                    };
                };
            };
        };
    };
    renameConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** The id of the conversation, made by the gateway. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Holiday plans"
                 *     }
                 */
                "application/json": components["schemas"]["RenameConversation"];
            };
        };
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        /** The conversation with its name. */
                        data: {
                            /**
                             * Format: uuid
                             *
                             * The id of the conversation, made by the gateway.
                             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
                             */
                            id: string;
                            /** The id by which the client names the conversation: `chat_id`, `conversation_id` or `X-Conversation-Id` of its calls. The same id of another user, end user, agent or app is another conversation. */
                            conversation: string;
                            /** The id of the agent. */
                            agent: string;
                            /** The id of the app of the agent; empty if there is none. */
                            app: string;
                            /**
                             * Format: uuid
                             *
                             * The id of the user whom the API keys of its calls belong to.
                             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
                             */
                            owner_id: string;
                            /** The end user that the calls named; empty if they named none. */
                            end_user: string;
                            /** The name; null as long as nobody has named it. */
                            name: string | null;
                            /**
                             * Format: date-time
                             *
                             * When its first call was admitted, as far as conversations were listed at that time (ISO 8601, UTC).
                             * @example 2026-11-20T08:30:00.000Z
                             */
                            created_at: string;
                            /**
                             * Format: date-time
                             *
                             * When its last call ended, accurate to a minute (ISO 8601, UTC).
                             * @example 2026-11-20T08:30:00.000Z
                             */
                            last_activity_at: string;
                            /** The complete answers, as far as the ledger still has their calls; counted up to 1,000. */
                            turns: number;
                            /** How its last call ended; null while that is running, and once the ledger has no call of it any more. */
                            last_outcome: ("done" | "client_gone" | "upstream_error" | "timeout" | "drained" | "interrupted" | "rejected" | (string & {})) | null;
                            /** Whether a run waits for its user. */
                            paused: boolean;
                            /**
                             * Whether the platform has it as well. If that has failed, nothing is lost here. `yes`: the platform has it as well. `failed`: the platform could not be told. `unsupported`: the platform takes no such thing.
                             * @enum {string}
                             */
                            passed_on: "yes" | "failed" | "unsupported";
                        };
                    };
                };
            };
        };
    };
    rateCall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** The id of the call. */
                call_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "rating": "up",
                 *       "text": "Just right."
                 *     }
                 */
                "application/json": components["schemas"]["RateCall"];
            };
        };
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        /** What `rateCall` has done. */
                        data: {
                            /**
                             * Format: uuid
                             *
                             * The id of the call.
                             * @example 019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10
                             */
                            call_id: string;
                            /** What the user thinks of the answer; null if it was not rated. */
                            rating: ("up" | "down") | null;
                            /** What the user says about it, at most 2,000 characters. */
                            text: string | null;
                            /**
                             * Whether the platform has it as well. If that has failed, nothing is lost here. `yes`: the platform has it as well. `failed`: the platform could not be told. `unsupported`: the platform takes no such thing.
                             * @enum {string}
                             */
                            passed_on: "yes" | "failed" | "unsupported";
                        };
                    };
                };
            };
        };
    };
    listAuditEvents: {
        parameters: {
            query?: {
                /** The largest number of items on a page. */
                limit?: number;
                /** The `next_cursor` of the previous page. Omit it to get the first page. */
                cursor?: string;
                /** Only what the user with this id did, or an API key of that user. */
                user_id?: string;
                /** Only what the API key with this id did. */
                key_id?: string;
                /** Only this operation, such as `users.update`. */
                operation?: string;
                /** Only events with this result. */
                result?: "done" | "refused" | "failed";
                /** Only what was done to something of this kind, such as `user` or `api_key`. */
                target?: string;
                /** Only what was done to the one with this id. */
                target_id?: string;
                /** Only events of the request with this id. */
                request_id?: string;
                /** Only events at this time or later: ISO 8601 with a time zone, or a date, such as `2026-10-01`, which stands for the start of that day in `timezone`. */
                from?: string;
                /** Only events before this time, in the same form as `from`, which must not be later: a date stands for the start of that day, which is not included. */
                to?: string;
                /** The IANA name of the time zone in which the days of `from` and `to` begin, such as `Asia/Shanghai`; UTC by default. */
                timezone?: string;
                /** The format of the response; the default is `json`. */
                format?: "json" | "csv";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        data: {
                            /** The items of this page. */
                            items: components["schemas"]["AuditEvent"][];
                            /** Send this value as `cursor` to get the next page. Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                    "text/csv": string;
                };
            };
        };
    };
    listProcesses: {
        parameters: {
            query?: {
                /** Only processes that live, or only those that do not. */
                state?: "live" | "ended";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        data: {
                            /** The items of this page. */
                            items: components["schemas"]["GatewayProcess"][];
                            /** Send this value as `cursor` to get the next page. Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
    };
    listUploads: {
        parameters: {
            query?: {
                /** The largest number of items on a page. */
                limit?: number;
                /** The `next_cursor` of the previous page. Omit it to get the first page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        data: {
                            /** The items of this page. */
                            items: components["schemas"]["Upload"][];
                            /** Send this value as `cursor` to get the next page. Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
    };
    deleteUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** The id of the upload. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Always 0 on success.
                         * @enum {number}
                         */
                        code: 0;
                        /**
                         * Always `Success`.
                         * @enum {string}
                         */
                        msg: "Success";
                        data: {
                            /** The id of the deleted upload. */
                            id: string;
                        };
                    };
                };
            };
        };
    };
}
/** The body of every error response, except on the OpenAI-compatible routes. */
export type ErrorBody = components["schemas"]["ErrorBody"];
/** The tokens of the call as the platform reported them; absent where it reported none. */
export type TokenUsage = components["schemas"]["TokenUsage"];
/** A node of the workflow has started. */
export type NodeStartedDetail = components["schemas"]["NodeStartedDetail"];
/** A node of the workflow has finished; `status` says how. */
export type NodeFinishedDetail = components["schemas"]["NodeFinishedDetail"];
/** The agent calls a tool. */
export type ToolCallDetail = components["schemas"]["ToolCallDetail"];
/** What a tool returned. */
export type ToolResultDetail = components["schemas"]["ToolResultDetail"];
/** What the agent considers, as its platform words it. */
export type ThoughtDetail = components["schemas"]["ThoughtDetail"];
/** The reasoning of the model: in a stream a piece of it, in a JSON reply all up to the next step. */
export type ReasoningDetail = components["schemas"]["ReasoningDetail"];
/** The documents on which the reply is based. */
export type SourcesDetail = components["schemas"]["SourcesDetail"];
/** The variables of the conversation after this run. */
export type VariablesDetail = components["schemas"]["VariablesDetail"];
/** The platform waits for the user. The text of the reply has the question as well. */
export type InteractionDetail = components["schemas"]["InteractionDetail"];
/** The platform has withdrawn its text and sent another one; `status` is the reason that it gave. */
export type ReplacedDetail = components["schemas"]["ReplacedDetail"];
/** The agent has made a file, which is in `files` of the reply as well. */
export type FileDetail = components["schemas"]["FileDetail"];
/** A step of another kind; `name` says of which. */
export type OtherDetail = components["schemas"]["OtherDetail"];
/** One step of the platform's progress, sent if `detail` is true. `type` is its kind. */
export type DetailEvent = components["schemas"]["DetailEvent"];
/** A file that the agent has made. The text of the reply shows it as well, as Markdown. */
export type ReplyFile = components["schemas"]["ReplyFile"];
/** A field of a form whose value is a line of text. */
export type PauseTextField = components["schemas"]["PauseTextField"];
/** A field of a form whose value is a text of several lines. */
export type PauseParagraphField = components["schemas"]["PauseParagraphField"];
/** A field of a form whose value is a number. */
export type PauseNumberField = components["schemas"]["PauseNumberField"];
/** A field of a form whose value is one of `options`. */
export type PauseSelectField = components["schemas"]["PauseSelectField"];
/** A field of a form whose value is true or false. */
export type PauseCheckboxField = components["schemas"]["PauseCheckboxField"];
/** A field of a form whose value is the URL of a file. */
export type PauseFileField = components["schemas"]["PauseFileField"];
/** A field of a form whose value is a list of the URLs of files. */
export type PauseFileListField = components["schemas"]["PauseFileListField"];
/** A field of the form that a pause shows. `type` says what its value is. */
export type PauseField = components["schemas"]["PauseField"];
/** The run waits for the user. The next chat in the same conversation is the answer, by its text or by `answer`. */
export type Pause = components["schemas"]["Pause"];
/** The answer to a pause. It names its pause, so that a second click answers nothing else. `query` may be empty beside it. */
export type PauseAnswer = components["schemas"]["PauseAnswer"];
/** A message to an agent. The seven fields of the interface are all required; unknown fields are ignored. */
export type ChatRequest = components["schemas"]["ChatRequest"];
/** The whole reply of an agent. */
export type ChatReply = components["schemas"]["ChatReply"];
/** One `data:` line of a stream. In the last chunk `content` is null and `finish_reason` is set; the line `data: [DONE]` follows it. */
export type ChatChunk = components["schemas"]["ChatChunk"];
/** The last `data:` line of a stream that failed. Neither a chunk with a `finish_reason` nor `[DONE]` follows it. */
export type StreamError = components["schemas"]["StreamError"];
/** An agent that can be called. */
export type Agent = components["schemas"]["Agent"];
/** A deployment of an agent: one platform, or one key of it, that answers for the agent. Shown only to administrators. */
export type AgentDeployment = components["schemas"]["AgentDeployment"];
/** A user, as a login returns it. */
export type User = components["schemas"]["User"];
/** The credentials of a user. */
export type LoginRequest = components["schemas"]["LoginRequest"];
/** An access token and the user that it belongs to. */
export type LoginResponse = components["schemas"]["LoginResponse"];
/** The record of an API key, without the key itself, which only its creation shows. */
export type ApiKey = components["schemas"]["ApiKey"];
/** The record of a new API key together with the key itself. */
export type CreatedApiKey = components["schemas"]["CreatedApiKey"];
/** The record of the API key of the request, with its rate limits and what is left of its quota. */
export type CurrentApiKey = components["schemas"]["CurrentApiKey"];
/** A new API key. */
export type CreateApiKey = components["schemas"]["CreateApiKey"];
/** The fields to change. A field that is absent keeps its value. */
export type UpdateApiKey = components["schemas"]["UpdateApiKey"];
/** How an API key gets another secret. */
export type RotateApiKey = components["schemas"]["RotateApiKey"];
/** Which counter to reset. */
export type ResetUsageRequest = components["schemas"]["ResetUsageRequest"];
/** A user of the gateway, as administrators and the user itself see it. */
export type FullUser = components["schemas"]["FullUser"];
/** A new user. */
export type CreateUser = components["schemas"]["CreateUser"];
/** The caller's current password and its new one. */
export type ChangePassword = components["schemas"]["ChangePassword"];
/** The fields to change. A field that is absent keeps its value. */
export type UpdateUser = components["schemas"]["UpdateUser"];
/** A new password for a user. */
export type SetPassword = components["schemas"]["SetPassword"];
/** The value of each property of `group_by`; empty without `group_by`. */
export type UsageGroupValues = components["schemas"]["UsageGroupValues"];
/** The calls that have ended, each counted in the hour, day or month in which it was admitted. */
export type UsageReport = components["schemas"]["UsageReport"];
/** An admitted call: a row of the ledger. It is kept for `usage.retentionDays`, by default 400 days, longer than the objects that it names may exist. */
export type Call = components["schemas"]["Call"];
/** A request of a known API key or access token that was refused before it was a call. It is kept for a day, and only the first ones of each reason, credential and hour are. */
export type Refusal = components["schemas"]["Refusal"];
/** Requests that were refused for one reason in one minute, hour or day. The requests of unknown credentials are counted as well, without a key or an owner, and shown only to administrators. Counts are kept for 30 days. */
export type RefusalCount = components["schemas"]["RefusalCount"];
/** A page of the messages of a conversation, the newest page first. */
export type ConversationMessages = components["schemas"]["ConversationMessages"];
/** A conversation of an end user with an agent and its app. It is listed within a second after its first call has ended, and as long after its last use as `conversations.mappingRetentionDays` says. */
export type Conversation = components["schemas"]["Conversation"];
/** The new name of a conversation. */
export type RenameConversation = components["schemas"]["RenameConversation"];
/** What a user thinks of an answer. */
export type RateCall = components["schemas"]["RateCall"];
/** What the erasure of an end user has done, and what it has left. */
export type ErasedEndUser = components["schemas"]["ErasedEndUser"];
/** The end user to erase. */
export type EraseEndUser = components["schemas"]["EraseEndUser"];
/** An event of the audit log: who did what to what, when, and what it was before and after. Each event is chained to the one before by its hash. Chats are in the ledger, and not here. */
export type AuditEvent = components["schemas"]["AuditEvent"];
/** A process of the gateway that shares the database, or did until it ended. It is listed until it ended more than `instance.retentionDays` ago. */
export type GatewayProcess = components["schemas"]["GatewayProcess"];
/** A reload of the configuration. */
export type Reload = components["schemas"]["Reload"];
/** The public keys that verify the signatures of access tokens (RFC 7517). */
export type JwkSet = components["schemas"]["JwkSet"];
/** An uploaded file. Files are uploaded by `POST /api/v1/upload` of the REST API. */
export type Upload = components["schemas"]["Upload"];
/** A form with these parts and no others, in any order. Only `end_user` may be left out. */
export type UploadForm = components["schemas"]["UploadForm"];
/** The stable words with which the gateway names its errors. */
export type ErrorReason =
  | "access_token_required"
  | "address_denied"
  | "agent_credentials"
  | "agent_denied"
  | "agent_empty_reply"
  | "agent_error"
  | "agent_malformed"
  | "agent_misconfigured"
  | "agent_overloaded"
  | "agent_quota"
  | "agent_rate_limited"
  | "agent_rejected_input"
  | "agent_requires_action"
  | "agent_timeout"
  | "agent_truncated"
  | "agent_unavailable"
  | "agent_unreachable"
  | "answer_required"
  | "api_key_required"
  | "app_id_required"
  | "app_not_found"
  | "body_too_large"
  | "call_not_found"
  | "configuration_invalid"
  | "content_filtered"
  | "conversation_busy"
  | "conversation_id_required"
  | "conversation_not_found"
  | "credential_malformed"
  | "credential_missing"
  | "draining"
  | "file_type_not_accepted"
  | "headers_too_large"
  | "idempotency_mismatch"
  | "internal_error"
  | "interrupted"
  | "invalid_host"
  | "invalid_json"
  | "invalid_request"
  | "key_ended"
  | "key_expired"
  | "key_not_found"
  | "key_paused"
  | "key_revoked"
  | "key_rotated"
  | "key_unknown"
  | "last_admin"
  | "login_failed"
  | "method_not_allowed"
  | "model_not_found"
  | "not_supported_by_agent"
  | "object_not_found"
  | "owner_suspended"
  | "pause_over"
  | "permission_denied"
  | "previous_response_not_found"
  | "quota_exceeded"
  | "rate_limited"
  | "reply_gone"
  | "role_denied"
  | "rotation_pending"
  | "route_not_found"
  | "stopped"
  | "token_expired"
  | "token_invalid"
  | "token_revoked"
  | "too_many_keys"
  | "too_many_new_keys"
  | "unavailable"
  | "unknown_agent"
  | "unsupported_media_type"
  | "upgrade_pending"
  | "upload_not_found"
  | "upload_space_used_up"
  | "user_not_found"
  | "username_taken"
  | "websocket_not_supported";
