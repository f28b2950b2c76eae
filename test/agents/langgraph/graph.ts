import { AIMessage, type BaseMessage, RemoveMessage } from '@langchain/core/messages'
import {
  Annotation,
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { languageOf } from '@trunkline/sandbox/src/replies/language.ts'
import { madeFiles } from '@trunkline/sandbox/src/replies/made-files.ts'
import { asText } from '@trunkline/sandbox/src/serving/narrow.ts'
import { textIn } from './content.ts'
import { filePart } from './file-part.ts'
import { type Answer, askFor } from './interrupts.ts'
import { askModel } from './model-client.ts'
import type { ModelPart } from './model-part.ts'
import { weather } from './weather.ts'
import { type Commands, readCommands } from './words.ts'

/* The program that LangGraph runs: a model, and around it the nodes that play the commands. */

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  /** What the interrupts of all turns were answered with. */
  answers: Annotation<readonly Answer[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
})
type State = typeof State.State
type Update = Partial<typeof State.Update>
type Config = LangGraphRunnableConfig

const REPLACEMENT = '抱歉，我不能回答。Sorry, I cannot answer that.'
const FAILURE = 'The node failed: upstream connect error at 10.0.0.7'

function commandsOf(state: State): Commands {
  return readCommands(textIn(questionIn(state)?.content))
}

function questionIn({ messages }: State): BaseMessage | undefined {
  return messages.findLast((message) => message.getType() === 'human')
}

/** Lets the model say a part of the answer. */
async function say(part: ModelPart, state: State, config: Config): Promise<BaseMessage> {
  const { faults, words } = commandsOf(state)
  const id = questionIn(state)?.id
  const wantsTool = words.has('langgraph:tool') || faults.has('sandbox:requires-action')
  return askModel(config, {
    part,
    messages: state.messages,
    answers: state.answers.filter(({ to }) => to === id).map(({ value }) => value),
    tools: wantsTool ? [weather] : [],
  })
}

async function plan(state: State, config: Config): Promise<Update> {
  await say('plan', state, config)
  return {}
}

async function agent(state: State, config: Config): Promise<Update> {
  const { faults, words } = commandsOf(state)
  if (faults.has('sandbox:error-first')) throw new Error(FAILURE)
  if (words.has('langgraph:custom')) config.writer?.({ progress: 'Thinking about it.' })
  return { messages: [await say(faults.has('sandbox:multi') ? 'first half' : 'answer', state, config)] }
}

async function goOn(state: State, config: Config): Promise<Update> {
  return { messages: [await say('second half', state, config)] }
}

/** Gives the answer as a whole; LangGraph does not pass on the pieces of a call with this tag. */
async function recite(state: State, config: Config): Promise<Update> {
  const reply = await say('answer', state, { ...config, tags: [...(config.tags ?? []), 'nostream'] })
  const text = textIn(reply.content)
  if (!commandsOf(state).words.has('langgraph:parts')) return { messages: [new AIMessage(text)] }
  const middle = text.length >> 1
  const parts = [text.slice(0, middle), text.slice(middle)].map((piece) => ({ type: 'text', text: piece }))
  return { messages: [new AIMessage({ content: parts })] }
}

/** Adds a message that consists of the files. */
function illustrate(state: State, { configurable }: Config): Update {
  const { faults, words } = commandsOf(state)
  const headers = { host: asText(configurable?.['x-forwarded-host']) }
  const { files } = madeFiles(faults, { headers })
  const isStandard = words.has('langgraph:blocks')
  return { messages: [new AIMessage({ content: files.map((file) => filePart(file, isStandard)) })] }
}

/** Takes the answer back and gives another one. */
function moderate({ messages }: State): Update {
  const removed = messages.slice(-1).map(({ id = '' }) => new RemoveMessage({ id }))
  return { messages: [...removed, new AIMessage(REPLACEMENT)] }
}

function publish(): never {
  throw new Error(FAILURE)
}

function ask(state: State): Update {
  const { faults, words } = commandsOf(state)
  const kind = words.has('langgraph:review') ? 'review' : (faults.pause ?? 'choice')
  const values = askFor(kind, faults.question, languageOf(faults.question))
  return { answers: values.map((value) => ({ to: questionIn(state)?.id, value })) }
}

/** Asks at the same time as the other one. */
function confirm(state: State): Update {
  const { question } = commandsOf(state).faults
  const values = askFor('confirm', question, languageOf(question))
  return { answers: values.map((value) => ({ to: questionIn(state)?.id, value })) }
}

type Step = 'agent' | 'team' | 'recite' | 'illustrate' | 'circle' | 'plan'

/** Where the answer begins. */
function begin(state: State): Step {
  const { faults, words } = commandsOf(state)
  if (words.has('langgraph:circle')) return 'circle'
  if (words.has('langgraph:plan')) return 'plan'
  if (words.has('langgraph:subgraph')) return 'team'
  if (words.has('langgraph:whole') || words.has('langgraph:parts')) return 'recite'
  return faults.file === 'alone' ? 'illustrate' : 'agent'
}

function enter(state: State): Step | ('ask' | 'confirm')[] {
  const { faults, words } = commandsOf(state)
  if (faults.pause === 'both') return ['ask', 'confirm']
  return faults.pause !== undefined || words.has('langgraph:review') ? ['ask'] : begin(state)
}

const STEPS_AFTER = ['goOn', 'illustrate', 'moderate', 'publish'] as const
type StepAfter = (typeof STEPS_AFTER)[number]

/** Returns the choice of what follows a node: the first step that is wanted of those after it. */
function after(node: StepAfter | 'answer') {
  return (state: State): StepAfter | typeof END => {
    const { faults } = commandsOf(state)
    const wanted: Readonly<Record<StepAfter, boolean>> = {
      goOn: faults.has('sandbox:multi'),
      illustrate: faults.file !== undefined,
      moderate: faults.has('sandbox:replace'),
      publish: faults.has('sandbox:node-failed'),
    }
    const rest = STEPS_AFTER.slice(node === 'answer' ? 0 : STEPS_AFTER.indexOf(node) + 1)
    return rest.find((step) => wanted[step]) ?? END
  }
}

function afterAgent(state: State): 'tools' | StepAfter | typeof END {
  const last = state.messages.at(-1)
  const wantsTool = last instanceof AIMessage && (last.tool_calls ?? []).length > 0
  if (!wantsTool) return after('answer')(state)
  // Nobody runs this one.
  return commandsOf(state).faults.has('sandbox:requires-action') ? END : 'tools'
}

const team = new StateGraph(State).addNode('agent', agent).addEdge(START, 'agent').compile()

export const graph = new StateGraph(State)
  .addNode('ask', ask)
  .addNode('confirm', confirm)
  .addNode('plan', plan)
  .addNode('agent', agent)
  .addNode('team', team)
  .addNode('tools', new ToolNode([weather]))
  .addNode('recite', recite)
  .addNode('goOn', goOn)
  .addNode('illustrate', illustrate)
  .addNode('moderate', moderate)
  .addNode('publish', publish)
  .addNode('circle', () => ({}))
  .addConditionalEdges(START, enter)
  .addConditionalEdges('ask', begin)
  .addEdge('plan', 'agent')
  .addEdge('tools', 'agent')
  .addEdge('circle', 'circle')
  .addConditionalEdges('agent', afterAgent)
  .addConditionalEdges('team', after('answer'))
  .addConditionalEdges('recite', after('answer'))
  .addConditionalEdges('goOn', after('goOn'))
  .addConditionalEdges('illustrate', after('illustrate'))
  .addConditionalEdges('moderate', after('moderate'))
  .addEdge('publish', END)
  .compile()
