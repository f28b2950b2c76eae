import type { ConversationPause } from '../serving/conversations.ts'
import { asRecord, type JsonRecord } from '../serving/narrow.ts'

/** What a node that pauses asks for. */
export interface FastGptQuestion {
  readonly type: 'userSelect' | 'userInput'
  /** The node's name. */
  readonly name: string
  readonly params: object
}

const OPTIONS = [
  { value: '确认', key: 'option1' },
  { value: '取消', key: 'option2' },
]

export function choice(description: string): FastGptQuestion {
  return { type: 'userSelect', name: '用户选择', params: { description, userSelectOptions: OPTIONS } }
}

export function form(fields: readonly object[]): FastGptQuestion {
  return { type: 'userInput', name: '表单输入', params: { description: '请填写', inputForm: fields } }
}

const NAME = {
  type: 'input',
  key: 'name',
  label: '姓名',
  value: '',
  valueType: 'string',
  description: '',
  defaultValue: '',
  required: true,
  maxLength: 50,
}

/** The fields of `sandbox:interactive=text`. */
export const ONE_FIELD = [NAME]

/** The fields of `sandbox:interactive=form`. */
export const FIELDS = [
  NAME,
  {
    type: 'numberInput',
    key: 'nights',
    label: '天数',
    value: 1,
    valueType: 'number',
    description: '',
    defaultValue: 1,
    required: false,
    max: 30,
    min: 1,
  },
  {
    type: 'select',
    key: 'room',
    label: '房型',
    value: 'king',
    valueType: 'string',
    description: '',
    defaultValue: 'king',
    required: false,
    list: [
      { label: '大床房', value: 'king' },
      { label: '双床房', value: 'twin' },
    ],
  },
]

/** The answer as the node reads it. */
export interface FastGptAnswer {
  /** The text of a choice, or the fields of a form. */
  readonly value: string | JsonRecord
  /** Whether a branch of the workflow goes on with it. */
  readonly fits: boolean
}

/**
 * The node takes the next message of the chat for the answer, whatever it is. A select compares it with the values of its
 * options, and where none is equal, it skips all of its branches. A form parses it as JSON, takes what is no JSON for an empty
 * object, and does not check whether required fields are there: FastGPT's own page does that before it sends them.
 */
export function readAnswer({ asks }: ConversationPause, text: string): FastGptAnswer {
  if (asks === 'fields') return { value: parseFields(text), fits: true }
  return { value: text, fits: OPTIONS.some(({ value }) => value === text) }
}

function parseFields(text: string): JsonRecord {
  try {
    return asRecord(JSON.parse(text))
  } catch {
    return {}
  }
}
