import { countTokens } from '../replies/compose-reply.ts'
import type { MadeFile, MadeFiles } from '../replies/made-files.ts'
import type { Script } from '../replies/player.ts'
import { frame } from '../replies/sse.ts'
import { json } from '../serving/answer.ts'
import { type OpenAiFlavour, openAiErrors, openAiRefusal } from './errors.ts'

export interface OpenAiRun {
  readonly id: string
  readonly model: string
  readonly flavour: OpenAiFlavour
  readonly createdAt: number
  readonly promptTokens: number
  readonly finish: 'stop' | 'length'
  readonly includeUsage: boolean
  readonly made: MadeFiles
  /** If set, the text is the arguments of a call to this tool. */
  readonly tool: { readonly id: string; readonly name: string } | undefined
}

const REASONING = 'A question about the sandbox; 简短地回答。'

export function openAiScript(run: OpenAiRun): Script {
  const { id, model, flavour, createdAt, includeUsage, tool } = run
  const head = (object: string) => ({
    id,
    object,
    created: createdAt,
    model,
    ...(flavour === 'ollama' && { system_fingerprint: 'fp_ollama' }),
  })
  const emit = (choices: readonly object[], usage?: object) =>
    frame(
      JSON.stringify({
        ...head('chat.completion.chunk'),
        choices,
        // With `include_usage`, every chunk except the last has a null usage.
        ...(includeUsage && { usage: usage ?? null }),
      }),
    )
  const delta = (fields: object, finishReason: string | null = null) =>
    emit([{ index: 0, delta: fields, finish_reason: finishReason }])
  const finishReason = tool ? 'tool_calls' : run.finish
  // Ollama sends the role and a content, even if empty, on every chunk.
  const role = flavour === 'ollama' ? { role: 'assistant' } : {}
  const done = frame('[DONE]')

  return {
    streamHeaders: { 'content-type': 'text/event-stream; charset=utf-8' },
    opening() {
      if (tool) {
        const call = { index: 0, id: tool.id, type: 'function', function: { name: tool.name, arguments: '' } }
        return delta({ role: 'assistant', content: null, tool_calls: [call] })
      }
      if (flavour === 'ollama') return delta({ role: 'assistant', content: '', reasoning: REASONING })
      const first = delta({ role: 'assistant', content: '' })
      return flavour === 'vllm' ? first + delta({ reasoning_content: REASONING }) : first
    },
    fragment: (text) =>
      tool
        ? delta({ tool_calls: [{ index: 0, function: { arguments: text } }] })
        : delta({ ...role, content: text }),
    closing: (text) =>
      (run.made.files.length > 0 ? delta({ ...role, ...filesOf(run.made, []) }) : '') +
      delta(flavour === 'ollama' ? { ...role, content: '' } : {}, finishReason) +
      (includeUsage ? emit([], usage(run, text)) : '') +
      done,
    failure() {
      const { message, type, code } = openAiErrors.server
      switch (flavour) {
        case 'openai':
          return frame(JSON.stringify({ error: { message, type, param: null, code } }))
        case 'vllm':
          return frame(JSON.stringify({ error: VLLM_FAILURE })) + done
        // Ollama reports a failure as an empty chunk and closes the stream.
        case 'ollama':
          return delta({ ...role, content: '' })
      }
    },
    heartbeat: () => ': keep-alive\n\n',
    blocking: (text) =>
      json(200, {
        ...head('chat.completion'),
        choices: [{ index: 0, message: message(run, text), logprobs: null, finish_reason: finishReason }],
        usage: usage(run, text),
      }),
    blockingFailure: () => openAiRefusal(flavour, openAiErrors.server),
  }
}

const VLLM_FAILURE = {
  message: 'EngineCore encountered an issue.',
  type: 'InternalServerError',
  param: null,
  code: 500,
}

function message({ flavour, tool, made }: OpenAiRun, text: string): object {
  if (tool) {
    const call = { id: tool.id, type: 'function', function: { name: tool.name, arguments: text } }
    return { role: 'assistant', content: null, refusal: null, tool_calls: [call] }
  }
  return {
    role: 'assistant',
    content: text,
    ...(made.files.length > 0 && filesOf(made, text === '' ? [] : [{ type: 'text', text }])),
    refusal: null,
    ...(flavour === 'vllm' && { reasoning_content: REASONING }),
    ...(flavour === 'ollama' && { reasoning: REASONING }),
  }
}

/**
 * Servers tell files as parts of the content or, for pictures, beside it. A picture alone is a part, so that a client meets both.
 *
 * @param texts - the parts of the content before the files
 */
function filesOf({ files, isAlone }: MadeFiles, texts: readonly object[]): object {
  const isPart = ({ type }: MadeFile) => isAlone || type === 'document'
  const parts = files.filter(isPart).map(partOf)
  const images = files.filter((file) => !isPart(file)).map(partOf)
  return {
    ...(parts.length > 0 && { content: [...texts, ...parts] }),
    ...(images.length > 0 && { images }),
  }
}

function partOf({ type, name, url }: MadeFile): object {
  return type === 'image'
    ? { type: 'image_url', image_url: { url } }
    : { type: 'file', file: { filename: name, file_data: url } }
}

function usage({ promptTokens }: OpenAiRun, text: string) {
  const completionTokens = countTokens(text)
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
}
