import { type Faults, parseFaults } from '@trunkline/sandbox/src/replies/faults.ts'

/** Words that only this agent knows, beside those of the sandbox. The README repeats this table. */
export const WORDS = {
  'langgraph:tool': 'Calls a tool, and has its result before it answers.',
  'langgraph:subgraph': 'The answer comes from a graph within the graph.',
  'langgraph:plan': 'Another node lets the model write a plan first, which the graph does not keep.',
  'langgraph:reasoning': 'The model sends its reasoning before the answer.',
  'langgraph:custom': 'Tells its progress in the stream mode `custom`.',
  'langgraph:variables': 'Answers with the variables that have reached the graph, one a line.',
  'langgraph:whole': 'A node keeps the pieces of the answer to itself and gives it as a whole.',
  'langgraph:parts': 'The same, and the content of the message is a list of parts.',
  'langgraph:blocks': 'Gives the files of `sandbox:file` as the standard blocks of LangChain.',
  'langgraph:review': 'Pauses as the middleware of LangChain does before a tool is called.',
  'langgraph:circle': 'Goes round in a circle until the limit of steps is reached.',
} as const satisfies Record<string, string>

export type Word = keyof typeof WORDS

/** The words of a query that only this agent knows. */
export interface Words {
  has(word: Word): boolean
}

/** What a query asks for beside its text. */
export interface Commands {
  readonly faults: Faults
  readonly words: Words
}

const WORD = /(?<!\S)(langgraph:[a-z-]+)(?!\S)\s?/g
const ECHO = /(?<!\S)sandbox:echo(?:\s|$)/

/** Reads the commands of a query. What follows `sandbox:echo` is text. */
export function readCommands(query: string): Commands {
  const end = ECHO.exec(query)?.index ?? query.length
  const found = new Set<string>()
  const head = query.slice(0, end).replace(WORD, (whole, word: string) => {
    if (!Object.hasOwn(WORDS, word)) return whole
    found.add(word)
    return ''
  })
  return { faults: parseFaults(head + query.slice(end)), words: { has: (word) => found.has(word) } }
}
