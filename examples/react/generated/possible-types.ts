
      export interface PossibleTypesResultData {
        possibleTypes: {
          [key: string]: string[]
        }
      }
      const result: PossibleTypesResultData = {
  "possibleTypes": {
    "ChatDetail": [
      "FileDetail",
      "Interaction",
      "NodeFinished",
      "NodeStarted",
      "OtherDetail",
      "Reasoning",
      "Sources",
      "TextReplacement",
      "Thought",
      "ToolCall",
      "ToolResult",
      "Variables"
    ],
    "ChatItem": [
      "ChatFinished",
      "ChatStarted",
      "ChatText",
      "ChatTextReplaced",
      "FileDetail",
      "Interaction",
      "NodeFinished",
      "NodeStarted",
      "OtherDetail",
      "Reasoning",
      "Sources",
      "TextReplacement",
      "Thought",
      "ToolCall",
      "ToolResult",
      "Variables"
    ],
    "Detail": [
      "FileDetail",
      "Interaction",
      "NodeFinished",
      "NodeStarted",
      "OtherDetail",
      "Reasoning",
      "Sources",
      "TextReplacement",
      "Thought",
      "ToolCall",
      "ToolResult",
      "Variables"
    ],
    "Node": [
      "Agent",
      "ApiKey",
      "Call",
      "Conversation",
      "Upload",
      "User"
    ],
    "UsageMetrics": [
      "UsagePoint",
      "UsageTotals"
    ]
  }
};
      export default result;
    