import { emulatorsWith, FAULTS, type Faults, KINDS, type UnknownCommands } from './faults.ts'
import { splitFragments } from './fragments.ts'
import { type Language, languageOf } from './language.ts'
import { TOPICS } from './topics.ts'

/** The emulated platform and the values with which the gateway's configuration reaches the real one. */
interface RealPlatform {
  readonly name: string
  readonly platform: string
  readonly baseUrl: string
}

export interface ReplyRequest {
  readonly real: RealPlatform
  readonly faults: Faults
  /** The conversation's earlier questions, oldest first. */
  readonly earlier: readonly string[]
  /** One line for each attached file. */
  readonly files: readonly string[]
  /** Whether the reply is a file alone. */
  readonly isSilent?: boolean
}

export interface Reply {
  readonly fragments: readonly string[]
  readonly finish: 'stop' | 'length'
  readonly promptTokens: number
}

/** Composes the same reply for the same question, in its language. Tokens are counted as fragments. */
export function composeReply(request: ReplyRequest): Reply {
  const { faults } = request
  const fragments = plan(request)
  const cut = faults.has('sandbox:length')
  const promptTokens = [...request.earlier, faults.question].reduce((sum, text) => sum + countTokens(text), 8)
  return {
    fragments: cut ? fragments.slice(0, Math.ceil(fragments.length / 2)) : fragments,
    finish: cut ? 'length' : 'stop',
    promptTokens,
  }
}

export function countTokens(text: string): number {
  return splitFragments(text).length
}

const LONG_FRAGMENTS_MAX = 1_000_000

function plan(request: ReplyRequest): readonly string[] {
  const { faults } = request
  // In words, because the fragments of a list would take ten seconds.
  if (faults.unknown)
    return describeUnknown(faults.unknown, languageOf(faults.question)).match(/\S+\s*/g) ?? []
  if (faults.has('sandbox:empty') || request.isSilent) return []
  if (faults.echo !== undefined) return splitFragments(faults.echo)
  if (faults.has('sandbox:long')) {
    const length = Math.min(faults.number('sandbox:long', 1_000), LONG_FRAGMENTS_MAX)
    return Array.from({ length }, (_, index) => `${index + 1} 网关${(index + 1) % 10 ? ' ' : '\n'}`)
  }
  return splitFragments(write(request))
}

/** Says what an emulator does not know, which others do, and what it knows itself. */
function describeUnknown({ emulator, commands }: UnknownCommands, language: Language): string {
  const words = WORDS[language]
  const list = new Intl.ListFormat(language)
  const isKnown = (command: string) => emulatorsWith(command).includes(emulator)
  const known = Object.keys(FAULTS)
    .filter(isKnown)
    .map((word) => {
      const kinds = Object.keys(KINDS[word] ?? {}).filter((kind) => isKnown(`${word}=${kind}`))
      return kinds.length === 0 ? `\`${word}\`` : `\`${word}=${kinds.join('|')}\``
    })
  const unknown = commands.map((command) =>
    words.unknown(emulator, command, list.format(emulatorsWith(command))),
  )
  return [...unknown, words.known(known.join(', '))].join('\n\n')
}

function write({ real, faults, earlier, files }: ReplyRequest): string {
  const { question } = faults
  const words = WORDS[languageOf(question)]
  const questions = [...earlier, question]
  const paragraphs = [words.hello(real.name)]
  if (question) paragraphs.push(words.asked(shorten(question)), answer(question, questions, words, real))
  if (files.length > 0)
    paragraphs.push([words.files(files.length), ...files.map((file) => `- ${file}`)].join('\n'))
  if (earlier[0] !== undefined) paragraphs.push(words.turn(questions.length, shorten(earlier[0])))
  return paragraphs.join('\n\n')
}

function answer(question: string, questions: readonly string[], words: Words, real: RealPlatform): string {
  if (ASKS_NAME.test(question)) {
    const name = questions.map(nameIn).findLast((found) => found !== undefined)
    return name === undefined ? words.noName : words.name(name)
  }
  const name = nameIn(question)
  if (name !== undefined) return words.greet(name)
  if (ASKS_FIRST.test(question))
    return questions.length > 1 ? words.first(shorten(questions[0] ?? '')) : words.nothingYet
  if (ASKS_SETUP.test(question)) return `${words.setup}\n\n${entryOf(real)}`
  return TOPICS.find(({ about }) => about.test(question))?.[words.language] ?? words.noTopic
}

function entryOf({ platform, baseUrl }: RealPlatform): string {
  return [
    '```yaml',
    'agents:',
    `  ${platform}:`,
    `    platform: ${platform}`,
    `    baseUrl: ${baseUrl}`,
    `    apiKey: \${${platform.toUpperCase()}_API_KEY}`,
    '```',
  ].join('\n')
}

const ASKS_NAME = /what(?:['’]s| is) my name|do you know my name|我(?:叫什么|的名字是什么|是谁)/i
const ASKS_FIRST =
  /what did i (?:say|ask)|my first (?:question|message)|我(?:最先|首先|第一句|第一个问题|刚才)/i
const ASKS_SETUP = /real platform|point (?:\w+ ){0,5}at|configur|set ?up|真实平台|真正的平台|配置|接入/i
const GIVES_NAME = /\bmy name is (\p{L}[\p{L}\p{M}'’-]*)|我(?:叫|的名字是)(\p{L}{1,12})/iu

function nameIn(text: string): string | undefined {
  if (ASKS_NAME.test(text)) return undefined
  const match = GIVES_NAME.exec(text)
  return match?.[1] ?? match?.[2]
}

const QUOTED_CHARACTERS_MAX = 200

function shorten(text: string): string {
  if (text.length <= QUOTED_CHARACTERS_MAX) return text
  // Does not cut a surrogate pair in half.
  return `${text.slice(0, QUOTED_CHARACTERS_MAX).replace(/[\uD800-\uDBFF]$/, '')}…`
}

interface Words {
  readonly language: Language
  hello(platform: string): string
  asked(question: string): string
  readonly noTopic: string
  name(name: string): string
  readonly noName: string
  greet(name: string): string
  first(question: string): string
  readonly nothingYet: string
  readonly setup: string
  files(count: number): string
  turn(turn: number, first: string): string
  /** @param others - the emulators that know the command; empty if none does */
  unknown(emulator: string, command: string, others: string): string
  known(words: string): string
}

const EN: Words = {
  language: 'en',
  hello: (platform) => `Hello from the ${platform} emulator 👋`,
  asked: (question) => `You asked: “${question}”`,
  noTopic:
    'I have no opinion on that: I am an emulator of the platform’s real protocol, so that you can try the gateway without an account anywhere. Ask me what a gateway is, how streaming works, which faults I can show, or how to point Trunkline at the real platform. ✨',
  name: (name) => `Your name is ${name}; you told me so in this conversation.`,
  noName: 'You have not told me your name in this conversation.',
  greet: (name) =>
    `Pleased to meet you, ${name}! I shall remember your name as long as this conversation lasts.`,
  first: (question) => `The first thing you said to me was: “${question}”`,
  nothingYet: 'This is the first thing you say to me in this conversation.',
  setup:
    'Put an entry with the platform’s address and your key into `gateway.config.yaml` and start Trunkline again; nothing changes for its clients:',
  files: (count) => (count === 1 ? 'I received 1 file:' : `I received ${count} files:`),
  turn: (turn, first) => `This is turn ${turn} of our conversation; it began with “${first}”.`,
  unknown: (emulator, command, others) =>
    `The ${emulator} emulator does not know \`${command}\`. ${others ? `Known to: ${others}` : 'No emulator does'}.`,
  known: (words) => `It knows ${words}. The README of the sandbox package explains them.`,
}

const ZH: Words = {
  language: 'zh',
  hello: (platform) => `你好，我是 ${platform} 的仿真服务 👋`,
  asked: (question) => `你的问题是：“${question}”`,
  noTopic:
    '这个话题我没有看法：我只是一个替身，讲的是平台真实的协议，让你不用任何账号就能试用网关。可以问我什么是网关、流式回复怎么工作、能演示哪些故障，或者怎样把 Trunkline 接入真实平台。✨',
  name: (name) => `你叫${name}，是你在这个会话里告诉我的。`,
  noName: '你还没有在这个会话里告诉我你的名字。',
  greet: (name) => `${name}，很高兴认识你！只要这个会话还在，我就记得你的名字。`,
  first: (question) => `你对我说的第一句话是：“${question}”`,
  nothingYet: '这就是你在这个会话里对我说的第一句话。',
  setup:
    '在 `gateway.config.yaml` 里写上平台的地址和你的密钥，重新启动 Trunkline 即可；对它的客户端来说什么都没有变：',
  files: (count) => `我收到了 ${count} 个文件：`,
  turn: (turn, first) => `这是我们会话的第 ${turn} 轮，开头是：“${first}”。`,
  unknown: (emulator, command, others) =>
    `${emulator} 的仿真服务不认识 \`${command}\`。${others ? `认识它的是：${others}` : '没有仿真服务认识它'}。`,
  known: (words) => `它认识 ${words}。说明见 sandbox 包的 README。`,
}

const WORDS: Readonly<Record<Language, Words>> = { en: EN, zh: ZH }
